"""The Python scripts of bench/ that change or judge data."""
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


if __name__ == "__main__":
    unittest.main()
