"""The Python module, against the program and its own stubs. Run by CTest with PYTHONPATH, SACT_PROGRAM,
SACT_SOURCE_DIR."""

import ast
import importlib.util
import inspect
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import sact

SOURCE = pathlib.Path(os.environ["SACT_SOURCE_DIR"])
PROGRAM = os.environ["SACT_PROGRAM"]
TRAINED = SOURCE / "models" / "imagenette-sact.safetensors"
PICTURE = SOURCE / "docs" / "images" / "ponder.png"

try:
    from PIL import Image as pillow
except ImportError:
    pillow = None


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def tensors_of(file):
    """What a safetensors file holds."""
    content = file.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    types = {"F32": "<f4", "I64": "<i8"}
    return {
        name: np.frombuffer(content[start + t["data_offsets"][0] : start + t["data_offsets"][1]], types[t["dtype"]])
        .reshape(t["shape"])
        for name, t in header.items()
    }  # fmt: skip


class Module(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.scratch.name)
        cls.small_file = folder / "small"
        run("new", "--units", "2,4", "--width", "4", "--classes", "7", "--input-size", "64", "--halting", "sact",
            "--halting-bias", "-1", "--halting-scale", "0.3", "--out", cls.small_file)  # fmt: skip
        cls.detector_file, cls.cut_detector_file = folder / "detector", folder / "cut_detector"
        # The second has a cut that no box is above: it looks at none.
        for file, cuts in [(cls.detector_file, {}), (cls.cut_detector_file, {"box_cuts": [[0.05, 1000]]})]:
            (folder / "spec.json").write_text(json.dumps({
                "units": [1, 2, 2], "width": 4, "classes": 3, "halting": "sact", "labels": ["cat", "dog", "car"],
                "detection": {"shorter_side": 64, "anchor_sizes": [16, 32], "proposals": 20, "proposal_channels": 8,
                              "crop": 8, "pool": 2, **cuts}}))  # fmt: skip
            run("new", "--spec", folder / "spec.json", "--halting-bias", "-1", "--halting-scale", "0.1", "--out", file)
        cls.small = sact.load(cls.small_file)
        random = np.random.default_rng(1)
        cls.pixels = random.integers(0, 256, (70, 90, 3), dtype=np.uint8)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def assertSame(self, found, right):
        np.testing.assert_array_equal(found.logits, right.logits)
        np.testing.assert_array_equal(found.ponder_map, right.ponder_map)
        self.assertEqual(found.flops, right.flops)

    def test_gives_what_the_program_gives_to_the_bit(self):
        right = json.loads(run("predict", TRAINED, PICTURE, "--json", "--no-pictures", "--threads", "1"))["images"][0]
        result = sact.load(str(TRAINED), threads=1)(PICTURE)
        self.assertEqual(result.label, right["top"][0]["label"])
        for mine, other in zip(result.top(5), right["top"], strict=True):
            self.assertEqual((mine.index, mine.label, mine.score), (other["class"], other["label"], other["score"]))
        self.assertEqual(result.score, right["top"][0]["score"])
        self.assertEqual(result.flops, right["flops"])
        self.assertEqual(result.dense_flops, right["dense_flops"])
        self.assertEqual(result.share, right["flops"] / right["dense_flops"])
        self.assertEqual(result.ponder_cost, right["ponder_cost"])

    def test_maps_are_the_programs_to_the_bit(self):
        file = pathlib.Path(self.scratch.name) / "raw.safetensors"
        for model in (TRAINED, self.small_file):
            run("predict", model, PICTURE, "--raw", file, "--no-pictures", "--threads", "1")
            right = tensors_of(file)
            found = sact.load(model, threads=1)(PICTURE)
            np.testing.assert_array_equal(found.logits, right["logits"][0])
            self.assertEqual(len(right), 1 + 2 * len(found.blocks))
            for number, block in enumerate(found.blocks):
                np.testing.assert_array_equal(block.ponder_map, right[f"ponder.{number}"][0])
                np.testing.assert_array_equal(block.units, right[f"units.{number}"][0])
            total = sum(np.repeat(np.repeat(b.ponder_map, 2**i, 0), 2**i, 1) for i, b in enumerate(found.blocks))
            np.testing.assert_array_equal(found.ponder_map, total)

    @unittest.skipUnless(pillow, "Pillow is not installed")
    def test_saliency_maps_are_the_programs(self):
        # The program draws them. Of this size every value has one pixel, whose colour is one of 2049.
        side, gap, steps = 420, 8, 2048
        folder = pathlib.Path(self.scratch.name) / "saliency"
        photo = pathlib.Path(self.scratch.name) / "square.png"
        with pillow.open(PICTURE) as picture:
            picture.convert("RGB").resize((side, side)).save(photo)
        try:
            said = run("saliency", "map", self.small_file, photo, "--size", 4 * side, "--blur", 3, "--threads", 1,
                       "--center-weight", 0.5, "--temperature", 0.3, "--json", "--out", folder)  # fmt: skip
        except subprocess.CalledProcessError as error:
            if "SACT_PICTURES" in error.stderr:
                self.skipTest("this program draws nothing")
            raise
        drawn = np.asarray(pillow.open(json.loads(said)["images"][0]["map"])).astype(np.uint32)
        drawn = drawn[:, :, 0] << 16 | drawn[:, :, 1] << 8 | drawn[:, :, 2]
        model = sact.load(self.small_file, threads=1)
        for panel, weight in ((1, 0), (2, 0.5)):
            found = model.saliency(photo, size=4 * side, blur=3, center_weight=weight)
            self.assertEqual(found.shape, (side, side))

            def scaled(values):
                return (values.astype(float) - values.min()) / (float(values.max()) - values.min())

            shown = np.exp((scaled(found).astype(np.float32).astype(float) - 1) / 0.3)
            places = (scaled((shown / shown.sum()).astype(np.float32)) * steps + 0.5).astype(int)
            left = gap + panel * (side + gap)
            colors = drawn[gap : gap + side, left : left + side]
            pairs = {(int(place), int(color)) for place, color in zip(places.flat, colors.flat)}
            self.assertGreater(len(pairs), 100)
            self.assertEqual(len({place for place, _ in pairs}), len(pairs))
            self.assertGreater(len({color for _, color in pairs}), 100)

    def test_detectors_give_what_the_program_gives_to_the_bit(self):
        right = json.loads(run("detect", self.detector_file, PICTURE, "--json", "--no-pictures", "--threads", "1"))
        right = right["images"][0]
        detector = sact.load(self.detector_file, threads=1)
        found = detector(PICTURE)
        self.assertIsInstance(detector, sact.Detector)
        self.assertEqual(len(found), len(right["detections"]))
        self.assertGreater(len(found), 0)
        for mine, other in zip(found, right["detections"], strict=True):
            self.assertEqual((mine.label, mine.score), (other["label"], other["score"]))
            x0, y0, x1, y1 = np.float32(mine.box)
            self.assertEqual([x0, y0, x1 - x0, y1 - y0], other["bbox"])
        self.assertEqual((found.flops, found.dense_flops), (right["flops"], right["dense_flops"]))
        share = (right["flops"] + right["box_flops"]) / (right["dense_flops"] + right["dense_box_flops"])
        self.assertEqual(found.share, share)
        self.assertEqual((found.scaled_height, found.scaled_width), (right["scaled_height"], right["scaled_width"]))
        self.assertEqual(detector.dense_flops(found.scaled_height, found.scaled_width), found.dense_flops)
        self.assertNotEqual(found.share, found.flops / found.dense_flops)
        self.assertIn(f"{100 * share:.1f} % of the work", repr(found))
        self.assertEqual(set(found.ms), {"scale", "extractor", "proposals", "crops", "boxes", "rest"})
        self.assertEqual(len(detector([self.pixels, PICTURE], most=1)[1]), 1)
        self.assertEqual(detector.saliency(self.pixels, size=64).shape[0], 16)

    def test_detectors_look_at_as_many_boxes_as_the_program(self):
        detector = sact.load(self.cut_detector_file, threads=1)
        for wanted, options in [
            ({}, []),
            ({"all_boxes": True}, ["--all-boxes"]),
            ({"all_boxes": True, "boxes": 7}, ["--all-boxes", "--boxes", 7]),
        ]:
            right = json.loads(run("detect", self.cut_detector_file, PICTURE, "--json", "--no-pictures", "--threads", "1",
                                   "--score", "0.1", *options))["images"][0]  # fmt: skip
            found = detector(PICTURE, score=0.1, **wanted)
            self.assertEqual(found.proposals, right["proposals"])
            self.assertEqual(found.box_flops, right["box_flops"])
            self.assertEqual([o.score for o in found], [o["score"] for o in right["detections"]])
        self.assertEqual(found.proposals, 7)
        with self.assertRaisesRegex(sact.Error, "boxes"):
            detector(PICTURE, boxes=-1)

    def test_maps_are_arrays(self):
        result = self.small(self.pixels)
        self.assertEqual(result.ponder_map.shape, (16, 16))
        self.assertEqual(result.ponder_map.dtype, np.float32)
        self.assertEqual(result.blocks[1].units.shape, (8, 8))
        self.assertEqual(result.logits.shape, (7,))
        self.assertAlmostEqual(result.probabilities.sum(), 1)
        self.assertEqual(self.small.saliency(self.pixels, size=64).shape, (16, 21))
        kept = result.ponder_map
        del result
        self.assertTrue(np.isfinite(kept).all())

    def test_pictures_of_all_kinds_give_the_same(self):
        right = self.small(PICTURE)
        self.assertSame(self.small(str(PICTURE)), right)
        self.assertSame(self.small(PICTURE.read_bytes()), right)
        if pillow:
            image = pillow.open(PICTURE)
            self.assertSame(self.small(image), right)
            self.assertSame(self.small(np.asarray(image.convert("RGB"))), right)
        right = self.small(self.pixels)
        self.assertSame(self.small(self.pixels[:, :, ::-1], order="bgr"), right)
        self.assertSame(self.small(np.dstack([self.pixels, np.full((70, 90), 255, np.uint8)])), right)
        wide = np.zeros((70, 200, 3), np.uint8)
        wide[:, 50:140] = self.pixels
        self.assertSame(self.small(wide[:, 50:140]), right)  # a part, which is not copied
        self.assertSame(self.small(np.flipud(np.flipud(self.pixels))), right)
        self.assertSame(self.small(np.asfortranarray(self.pixels)), right)
        grey = self.pixels[:, :, 0]
        self.assertSame(self.small(grey), self.small(np.dstack([grey] * 3)))
        self.assertSame(self.small(grey[:, :, None]), self.small(grey))

    @unittest.skipUnless(pillow, "Pillow is not installed")
    def test_pillow_images_are_what_their_files_are(self):
        folder = pathlib.Path(self.scratch.name)
        image = pillow.fromarray(self.pixels)
        palette = image.quantize(50)
        clear = np.arange(70 * 90, dtype=np.uint8).reshape(70, 90)
        turned = pillow.Exif()
        files = []

        def save(name, image, **options):
            files.append(folder / name)
            image.save(files[-1], **options)

        for orientation in range(1, 9):
            turned[0x0112] = orientation
            for kind in ("jpg", "png", "tif", "webp"):
                save(f"turned{orientation}.{kind}", image, exif=turned)
        save("inks.jpg", image.convert("CMYK"))
        save("grey.jpg", image.convert("L"))
        save("bits.png", image.convert("1"))
        save("palette.png", palette)
        save("clear_palette.png", palette, transparency=7)
        save("clear_colour.png", image, transparency=tuple(map(int, self.pixels[3, 4])))
        save("clear_grey.png", image.convert("L"), transparency=90)
        save("grey_alpha.png", pillow.merge("LA", [image.convert("L"), pillow.fromarray(clear)]))
        save("alpha.png", pillow.merge("RGBA", [*image.split(), pillow.fromarray(clear)]))
        for file in files:
            with self.subTest(file.name), pillow.open(file) as opened:
                self.assertSame(self.small(opened, whole=True), self.small(file, whole=True))

    @unittest.skipUnless(pillow, "Pillow is not installed")
    def test_pillow_images_of_16_bits_are_not_clipped(self):
        folder = pathlib.Path(self.scratch.name)
        wide = np.random.default_rng(2).integers(0, 65536, (70, 90), dtype=np.uint16)
        image = pillow.fromarray(wide)
        self.assertEqual(image.mode, "I;16")
        self.assertSame(self.small(image), self.small(((wide.astype(int) + 128) // 257).astype(np.uint8)))
        white_is_0 = {"tiffinfo": {262: 0}}
        for name, options in [("wide.png", {}), ("wide.tif", {}), ("dark.tif", white_is_0)]:
            file = folder / name
            image.save(file, **options)
            with pillow.open(file) as opened:
                if opened.mode == "I":  # older Pillow, PNG
                    with self.assertRaisesRegex(sact.Error, "pass the path"):
                        self.small(opened)
                else:
                    self.assertSame(self.small(opened), self.small(file))
        big_endian = pillow.frombytes("I;16B", (90, 70), wide.astype(">u2").tobytes())
        self.assertSame(self.small(big_endian), self.small(image))
        for mode in ("I", "F"):
            with self.assertRaisesRegex(sact.Error, "pass the path"):
                self.small(pillow.fromarray(self.pixels).convert(mode))

    def test_rows_that_lie_over_each_other_are_copied(self):
        row = np.arange(64 * 3, dtype=np.uint8).reshape(1, 64, 3)
        lying_over = np.broadcast_to(row, (64, 64, 3))
        self.assertEqual(lying_over.strides[0], 0)
        self.assertSame(self.small(lying_over), self.small(lying_over.copy()))

    def test_lists_give_lists_in_their_order(self):
        pictures = [self.pixels, self.pixels[:64, :64], PICTURE]
        told = []
        found = self.small(pictures, whole=True, progress=lambda done, total: told.append((done, total)))
        self.assertEqual(len(found), 3)
        self.assertEqual(told[-1], (3, 3))
        for result, picture in zip(found, pictures):
            self.assertEqual(result.flops, self.small(picture, whole=True).flops)
        self.assertEqual(self.small([]), [])

    def test_lists_are_opened_in_parts(self):
        model = sact.load(self.small_file, threads=1, batch=2)
        pictures = [np.roll(self.pixels, shift, axis=0) for shift in range(5)]
        told = []
        found = model(pictures, progress=lambda done, total: told.append((done, total)))
        self.assertEqual(told, [(2, 5), (4, 5), (5, 5)])
        for result, picture in zip(found, pictures, strict=True):
            np.testing.assert_allclose(result.logits, self.small(picture).logits, rtol=1e-4, atol=1e-5)
        detector, told = sact.load(self.detector_file, threads=1), []
        self.assertEqual(len(detector(pictures, progress=lambda done, total: told.append((done, total)))), 5)
        self.assertEqual(told, [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)])
        # No picture is opened after the call was cancelled.
        for picture in ("no/such.png", np.zeros(1, np.float32)):
            with self.assertRaises(sact.Cancelled):
                model([picture], cancelled=lambda: True)

    @unittest.skipUnless(pillow, "Pillow is not installed")
    def test_memory_does_not_grow_with_a_list(self):
        big = pathlib.Path(self.scratch.name) / "big.png"
        pillow.new("RGB", (3000, 2000), (90, 120, 30)).save(big)  # 18 MB
        script = (
            "import sact, sys\n"
            "model = sact.load(sys.argv[1], threads=1, batch=2)\n"
            # What getrusage() tells begins with the peak of the process that started this one.
            "peak = lambda: int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024\n"
            "model([sys.argv[2]] * 2)\n"
            "before = peak()\n"
            "model([sys.argv[2]] * 20)\n"
            "print(peak() - before)\n"
        )
        finished = subprocess.run(
            [sys.executable, "-c", script, self.small_file, big], capture_output=True, text=True, check=True
        )
        self.assertLess(float(finished.stdout), 100)  # MB; all of them at once are 324 more

    def test_work_goes_with_a_call(self):
        usual = self.small(self.pixels)
        self.assertLess(self.small(self.pixels, halting_shift=2).flops, usual.flops)
        self.assertLessEqual(self.small(self.pixels, halting_shift=-1, hard_budget=0.9).share, 0.9)
        self.assertSame(self.small(self.pixels), usual)
        with self.assertRaisesRegex(sact.Error, "calibrate"):
            self.small(self.pixels, budget=0.9)
        self.assertIsNone(self.small.budgets)

    def test_saliency_maps_take_what_calls_take(self):
        usual = self.small.saliency(self.pixels, size=64)
        found = self.small.saliency([self.pixels, str(PICTURE)], size=64)
        np.testing.assert_array_equal(found[0], usual)
        self.assertEqual(len(found), 2)
        self.assertEqual(self.small.saliency([]), [])
        self.assertFalse(np.array_equal(self.small.saliency(self.pixels, size=64, halting_shift=1), usual))
        with self.assertRaisesRegex(sact.Error, "calibrate"):
            self.small.saliency(self.pixels, budget=0.9)
        for model in (self.small, sact.load(self.detector_file)):
            told = []
            model.saliency([self.pixels] * 2, size=64, progress=lambda done, total: told.append((done, total)))
            self.assertEqual(told, [(1, 2), (2, 2)])
            with self.assertRaises(sact.Cancelled):
                model.saliency(self.pixels, size=64, cancelled=lambda: True)

    def test_the_limit_on_pixels_can_be_set(self):
        for picture in (PICTURE, PICTURE.read_bytes()):
            for call in (self.small, self.small.saliency, sact.load(self.detector_file)):
                with self.assertRaisesRegex(sact.Error, "raise max_pixels"):
                    call(picture, max_pixels=1000)
                call(picture, max_pixels=100_000_001)
        with self.assertRaisesRegex(sact.Error, "max_pixels must be"):
            self.small(PICTURE, max_pixels=0)

    def test_devices_and_instruction_sets(self):
        self.assertIn("cpu", sact.devices())
        np.testing.assert_allclose(sact.load(self.small_file, isa="scalar")(self.pixels).logits,
                                   self.small(self.pixels).logits, rtol=1e-3, atol=1e-4)  # fmt: skip
        with self.assertRaisesRegex(sact.Error, "nonsense"):
            sact.load(self.small_file, isa="nonsense")

    def test_calls_can_be_cancelled(self):
        with self.assertRaises(sact.Cancelled):
            self.small(self.pixels, cancelled=lambda: True)
        with self.assertRaises(ZeroDivisionError):
            self.small(self.pixels, cancelled=lambda: 1 / 0)
        with self.assertRaises(KeyError):
            self.small([self.pixels], progress=lambda done, total: {}[done])
        self.assertSame(self.small(self.pixels, cancelled=lambda: False), self.small(self.pixels))

    def test_signals_such_as_ctrl_c_end_a_single_run(self):
        model = sact.load(TRAINED, threads=1)

        def seconds():  # of the processor, so that nobody else counts
            before = time.process_time()
            try:
                model(self.pixels, size=2048)
            except KeyboardInterrupt:
                interrupted.append(True)
            return time.process_time() - before

        interrupted = []
        seconds()
        whole = seconds()
        former = signal.signal(signal.SIGPROF, signal.default_int_handler)
        try:
            signal.setitimer(signal.ITIMER_PROF, whole / 10)
            self.assertLess(seconds(), 0.7 * whole)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, former)
        self.assertEqual(interrupted, [True])
        self.assertSame(model(self.pixels), sact.load(TRAINED, threads=1)(self.pixels))

    def test_mistakes_are_errors_of_one_line(self):
        for wrong, said in [
            ("no/such.png", "no/such.png"),
            (b"text", "JPEG"),
            (b"", "empty"),
            (np.zeros((4, 4, 2), np.uint8), "2 channels"),
            (np.zeros((4, 4, 3), np.float32), "float32"),
            (np.zeros(4, np.uint8), "1 axes"),
            (np.zeros((0, 4, 3), np.uint8), "none"),
            (np.broadcast_to(np.zeros(1, np.uint8), (4, 4, 2**32 + 3)), "4294967299 channels"),
            (np.broadcast_to(np.zeros(3, np.uint8), (2**32 + 4, 4, 3)), "too large"),
            (np.broadcast_to(np.zeros(3, np.uint8), (10**6, 10**6, 3)), "too large"),
            (os.fsdecode(b"no/such\xff.png"), r"no/such\\xff.png"),
            (str(PICTURE) + "\0x", "NUL"),
        ]:
            with self.assertRaisesRegex(sact.Error, said) as caught:
                self.small(wrong)
            self.assertNotIn("\n", str(caught.exception))
        with self.assertRaises(TypeError):
            self.small(7)
        with self.assertRaisesRegex(sact.Error, "order"):
            self.small(self.pixels, order="hsv")
        with self.assertRaisesRegex(sact.Error, "no/such/model"):
            sact.load("no/such/model")
        with self.assertRaisesRegex(sact.Error, r"no/such\\xff"):
            sact.load(b"no/such\xff")
        with self.assertRaisesRegex(sact.Error, "NUL"):
            sact.load(f"{self.small_file}\0x")
        if pillow:
            for kind in ("png", "jpeg"):
                file = io.BytesIO()
                pillow.fromarray(self.pixels).save(file, kind)
                with self.assertRaisesRegex(sact.Error, "Pillow cannot read") as caught:
                    self.small(pillow.open(io.BytesIO(file.getvalue()[:-3000])))
                self.assertNotIn("\n", str(caught.exception))
        with self.assertRaisesRegex(sact.Error, "threads"):
            sact.load(self.small_file, threads=-1)
        with self.assertRaisesRegex(sact.Error, "precision"):
            sact.load(self.small_file, precision="fp8")
        self.assertTrue(issubclass(sact.Error, ValueError))

    def test_the_lock_is_released_while_a_network_runs(self):
        # If it were not, the other thread could not count while this one is inside of a call.
        asked = []

        def cancelled():
            asked.append(counted[0])
            return False

        counted, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0)

        thread = threading.Thread(target=count)
        thread.start()
        try:
            big = np.zeros((1500, 1500, 3), np.uint8)
            sact.load(TRAINED, threads=1)(big, size=512, cancelled=cancelled)
        finally:
            stop.set()
            thread.join()
        self.assertGreater(asked[-1], asked[0])

    def test_threads_share_a_model(self):
        model = sact.load(self.small_file, threads=1)
        pictures = [np.roll(self.pixels, shift, axis=0) for shift in range(6)]
        right = [model(picture) for picture in pictures]
        found = [None] * 4

        def work(mine):
            found[mine] = [model(picture) for _ in range(5) for picture in pictures]

        threads = [threading.Thread(target=work, args=(mine,)) for mine in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for mine in found:
            for number, result in enumerate(mine):
                self.assertSame(result, right[number % 6])

    def test_everything_public_has_a_docstring_and_a_stub(self):
        stub = ast.parse((pathlib.Path(sact.__file__).parent / "__init__.pyi").read_text())
        stubbed = {node.name: node for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        members = {name: [n for n in node.body if isinstance(n, ast.FunctionDef)]
                   for name, node in stubbed.items() if isinstance(node, ast.ClassDef)}  # fmt: skip
        self.assertEqual(set(sact.__all__), {name for name in stubbed if not name.startswith("_")})

        def signature(function):
            arguments = function.args
            names = [argument.arg for argument in arguments.args]
            named_only = {a.arg: d and ast.literal_eval(d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)}
            return names, [ast.literal_eval(default) for default in arguments.defaults], named_only

        def check_signature(name, function, declared):
            # Compiled functions have theirs in the first line of their text.
            line = re.sub(r"^\w+", "f", function.__doc__.splitlines()[0])
            self.assertEqual(signature(declared), signature(ast.parse(f"def {line}: ...").body[0]), name)

        for name in sact.__all__:
            public = getattr(sact, name)
            self.assertTrue(public.__doc__ or name in ("Error", "Cancelled"), name)
            if not inspect.isclass(public):
                check_signature(name, public, stubbed[name])
                continue
            if issubclass(public, Exception):
                continue
            found = {m for m in vars(public) if not m.startswith("_")}
            found |= {"__call__", "__len__", "__iter__"} & set(vars(public))
            bases = [base.id for base in stubbed[name].bases]
            declared = members[name] + [member for base in bases for member in members[base]]
            self.assertEqual(found, {member.name for member in declared}, name)
            for member in declared:
                value = vars(public)[member.name]
                is_property = any(getattr(d, "id", "") == "property" for d in member.decorator_list)
                self.assertEqual(isinstance(value, property), is_property, f"{name}.{member.name}")
                if not is_property:
                    check_signature(f"{name}.{member.name}", value, member)

    def test_stubs_have_every_precision(self):
        stub = (pathlib.Path(sact.__file__).parent / "__init__.pyi").read_text()
        declared = re.search(r"precision: Optional\[Literal\[(.*?)\]\]", stub).group(1)
        with self.assertRaises(sact.Error) as caught:
            sact.load(self.small_file, precision="fp8")
        known = str(caught.exception).split(", not ")[0]
        self.assertEqual(set(re.findall(r"\w+", declared)), set(re.findall(r"'(\w+)'", known)))

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_type_checkers_understand_the_stubs(self):
        program = pathlib.Path(self.scratch.name) / "program.py"

        def mypy(text):
            program.write_text("import sact\n" + text)
            environment = {**os.environ, "MYPYPATH": str(pathlib.Path(sact.__file__).parent.parent)}
            return subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", os.devnull, program],
                                  capture_output=True, text=True, env=environment)  # fmt: skip

        right = (
            'result = sact.load("m", precision="fp16")("cat.jpg")\n'
            "print(result.label, result.share)\n"
            'model: sact.Classifier = sact.load("m")\n'
            'print(model("cat.jpg").label, model(["cat.jpg"])[0].label)\n'
            'detector: sact.Detector = sact.load("m")\n'
            'for thing in detector("street.jpg"):\n'
            "    print(thing.box)\n"
        )
        finished = mypy(right)
        self.assertEqual(finished.returncode, 0, finished.stdout)
        self.assertNotEqual(mypy(right + 'model("cat.jpg").objects\n').returncode, 0)

    def test_the_example_draws_a_map(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("matplotlib is not installed")
        if not pillow:
            self.skipTest("Pillow is not installed")
        out = pathlib.Path(self.scratch.name) / "map.png"
        example = SOURCE / "examples" / "python" / "ponder_map.py"
        finished = subprocess.run(
            [sys.executable, example, TRAINED, PICTURE, out], capture_output=True, text=True, check=True
        )
        self.assertIn("of the dense network's work", finished.stdout)
        with pillow.open(out) as drawn:
            self.assertGreater(drawn.size[0], 600)


if __name__ == "__main__":
    unittest.main()
