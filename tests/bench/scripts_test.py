"""The Python scripts of bench/ that change or judge data."""
import csv
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).parents[2] / "bench"


def run(script, *arguments):
    return subprocess.run([sys.executable, BENCH / script, *map(str, arguments)],
                          capture_output=True, text=True, check=False)


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make(self, path, content="x"):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        return file

    def files(self, part):
        return sorted(str(path.relative_to(self.folder / part))
                      for path in (self.folder / part).rglob("*") if path.is_file())


class SplitFolder(Scripts):
    def test_each_nth_image_of_a_class_is_for_validation(self):
        for i in range(7):
            self.make(f"a/cat/{i}.jpg")
            self.make(f"a/dog/{i}.jpg")
        self.make("a/cat/notes.txt")
        for _ in range(2):  # the second time changes nothing
            result = run("split_folder.py", self.folder / "out", self.folder / "a", "--every", 3,
                         "--exclude", "d*")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(self.files("out/val"), ["cat/2.jpg", "cat/5.jpg"])
            self.assertEqual(self.files("out/train"), [f"cat/{i}.jpg" for i in (0, 1, 3, 4, 6)])

    def test_sources_are_joined(self):
        self.make("a/cat/1.jpg")
        self.make("b/cat/2.JPEG")
        self.make("b/dog/3.png")
        self.make("b/dog/4.png")
        result = run("split_folder.py", self.folder / "out", self.folder / "a", self.folder / "b",
                     "--every", 2)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.files("out/train"), ["cat/1.jpg", "dog/3.png"])
        self.assertEqual(self.files("out/val"), ["cat/2.JPEG", "dog/4.png"])

    def test_a_class_without_validation_images_is_refused(self):
        self.make("a/cat/1.jpg")
        result = run("split_folder.py", self.folder / "out", self.folder / "a")
        self.assertEqual(result.returncode, 1)
        self.assertIn("class cat has 1 images", result.stderr)
        self.assertEqual(self.files("out"), [])

    def test_two_images_of_one_name_are_refused(self):
        self.make("a/cat/1.jpg", "one")
        self.make("b/cat/1.jpg", "other")
        result = run("split_folder.py", self.folder / "out", self.folder / "a", self.folder / "b",
                     "--every", 2)
        self.assertEqual(result.returncode, 1)
        self.assertIn("1.jpg", result.stderr)


class Paired(Scripts):
    def predictions(self, name, classes, size=84):
        rows = [f"{i}.jpg,{size},{size},1,{c},0.5,100" for i, c in enumerate(classes)]
        return self.make(name, "path,height,width,label,class,score,flops\n" + "\n".join(rows) + "\n")

    def test_exact_test_by_hand(self):
        # Only the first is right 8 times, only the second once: p = 2 (1 + 9) / 2^9.
        first = self.predictions("a.csv", [1] * 8 + [2] + [1] * 11)
        second = self.predictions("b.csv", [2] * 8 + [1] + [1] * 11)
        result = run("paired.py", first, second)
        self.assertEqual(result.returncode, 0, result.stderr)
        # The variance of the differences is 9/20 - (7/20)^2.
        self.assertEqual(result.stdout, "84x84: 95.00 % and 60.00 %, difference +35.00 ± 12.80 points "
                                        "(8 : 1 of 20), p = 0.039\n")

    def test_growth_of_the_difference_with_size_by_hand(self):
        # The first network is right once more at 84 and three times at 112: of four photographs two
        # change by one. The variance of 0, 0, 1, 1 is 1/4, its error sqrt(1/4 / 4).
        def both(name, small, large):
            path = self.predictions(name, small)
            rows = self.predictions("rows.csv", large, 112).read_text().splitlines()[1:]
            path.write_text(path.read_text() + "\n".join(rows) + "\n")
            return path

        first = both("a.csv", [1, 1, 1, 1], [1, 1, 1, 1])
        second = both("b.csv", [2, 1, 1, 1], [2, 2, 2, 1])
        result = run("paired.py", first, second)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.splitlines()[-1],
                         "from 84x84 to 112x112: the difference changes by +50.00 ± 25.00 points")

    def test_other_photographs_are_refused(self):
        result = run("paired.py", self.predictions("a.csv", [1, 1]), self.predictions("b.csv", [1]))
        self.assertEqual(result.returncode, 1)
        self.assertIn("not about the same photographs", result.stderr)


@unittest.skipUnless(importlib.util.find_spec("PIL"), "without Pillow")
class ShrinkVoc(Scripts):
    def test_boxes_shrink_with_their_photographs(self):
        from PIL import Image
        self.make("voc/ImageSets/Main/train.txt", "wide\n")
        self.make("voc/ImageSets/Main/val.txt", "small\ndot\n")
        box = "<annotation><size><width>{}</width><height>{}</height></size><object><name>cat</name><bndbox>" \
              "<xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax></bndbox></object></annotation>"
        for name, size, corners in (("wide", (400, 200), (201, 1, 400, 100)), ("small", (60, 50), (11, 21, 30, 50)),
                                    ("dot", (200, 200), (7, 7, 7, 8))):
            path = self.make(f"voc/JPEGImages/{name}.jpg")
            Image.new("RGB", size).save(path)
            self.make(f"voc/Annotations/{name}.xml", box.format(*size, *corners))
        result = run("shrink_voc.py", self.folder / "voc", self.folder / "out", 100)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.files("out"), sorted(f"{part}/{name}" for part, name in (
            ("JPEGImages", "wide.jpg"), ("JPEGImages", "small.jpg"), ("JPEGImages", "dot.jpg"), ("Annotations", "wide.xml"),
            ("Annotations", "small.xml"), ("Annotations", "dot.xml"), ("ImageSets/Main", "train.txt"), ("ImageSets/Main", "val.txt"))))
        with Image.open(self.folder / "out/JPEGImages/wide.jpg") as picture:
            self.assertEqual(picture.size, (200, 100))
        # [200, 400] x [0, 100] of pixels becomes [100, 200] x [0, 50].
        self.assertEqual((self.folder / "out/Annotations/wide.xml").read_text(),
                         box.format(200, 100, "101.00", "1.00", "200.00", "50.00"))
        self.assertEqual((self.folder / "out/Annotations/small.xml").read_text(),
                         box.format(60, 50, "11.00", "21.00", "30.00", "50.00"))
        # A box of one pixel and of one by two: none becomes less than a pixel.
        self.assertEqual((self.folder / "out/Annotations/dot.xml").read_text(),
                         box.format(100, 100, "4.00", "4.00", "4.00", "4.00"))


class DetectionTable(Scripts):
    LOG = ("epoch", "images_per_second", "seconds", "flops", "flops_std", "dense_flops", "val_head_share", "AP",
           "AP50", "units_1", "units_2")

    def make_run(self, name, rows):
        settings = {"data": "sets/voc", "halting": "sact", "tau": 0.005, "budget": 0.72, "seed": 1, "epochs": 3}
        self.make(f"report/{name}.json", json.dumps(settings))
        with open(self.make(f"report/{name}.csv"), "w", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerows([self.LOG, *rows])

    def results(self):
        result = run("detection_table.py", self.folder / "report")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads((self.folder / "report/results.json").read_text())["rows"], result.stdout

    def test_the_last_evaluation_counts_and_the_median_speed(self):
        evaluated = [300, 30, 100, 0.7, 0.2, 0.5, 1.5, 2.5]
        self.make_run("a", [[1, 90, 9, *evaluated], [2, 250, 4, 250, 20, 500, 0.6, 0.125, 0.25, 1.25, 3.5],
                            [3, 260, 4] + [""] * 8])
        self.make("report/a.memory", "4096\n")
        (row,), text = self.results()
        self.assertEqual((row["images_per_second"], row["seconds"]), (250, 17))
        self.assertEqual((row["evaluated_after"], row["AP"], row["AP50"], row["units"]), (2, 0.125, 0.25, [1.25, 3.5]))
        self.assertEqual((row["data"], row["seed"], row["memory_mib"]), ("voc", 1, 4096))
        self.assertIn("50.0 ± 4.0", text)

    def test_a_run_that_was_not_evaluated_is_shown_without_scores(self):
        self.make_run("a", [[1, 90, 9] + [""] * 8])
        self.make_run("b", [])
        rows, text = self.results()
        self.assertEqual([row["epochs"] for row in rows], [1, 0])
        self.assertNotIn("AP", rows[0])
        self.assertEqual(len(text.splitlines()), 3)


if __name__ == "__main__":
    unittest.main()
