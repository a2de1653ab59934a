"""The page of `sact serve` in headless Chromium. SACT_SCREENSHOTS=DIR keeps pictures of it."""

import os
import pathlib
import sys
import tempfile
import unittest

from browser import Browser, find_browser
from server import PICTURE, SOURCE, Server, sact, small_detector, small_model

SHOTS = os.environ.get("SACT_SCREENSHOTS")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.scratch.name)
        cls.trained = SOURCE / "models" / "imagenette-sact.safetensors"
        small_detector(folder)
        small_model(folder / "small")
        cls.picture = folder / "cat.png"
        cls.picture.write_bytes(PICTURE)
        sact("calibrate", folder / "small", "--images", cls.picture, "--out", folder / "dial.safetensors")
        cls.broken = folder / "broken.png"
        cls.broken.write_bytes(PICTURE[:500])
        cls.server = Server(cls.trained, folder / "dial.safetensors", folder / "finder.safetensors")
        cls.browser = Browser(find_browser())

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.server.end()
        cls.scratch.cleanup()

    def setUp(self):
        self.browser.problems.clear()
        self.open()

    def tearDown(self):
        self.assertEqual(self.browser.problems, [])

    def open(self, **size):
        self.browser.open(f"http://127.0.0.1:{self.server.port}/", **size)
        self.browser.wait("document.body && document.body.dataset.ready")

    def upload(self, *paths):
        self.browser.choose_files("#files", paths)
        self.browser.wait("!document.body.classList.contains('waiting') && ($('flops').textContent !== '–'"
                          " || $('error').textContent)")  # fmt: skip

    def shot(self, name):
        if SHOTS:
            self.browser.screenshot(pathlib.Path(SHOTS) / f"{name}.png")

    def text(self, name):
        return self.browser.run(f"$('{name}').textContent")

    def pixels(self):
        """The sum of the canvas's colours."""
        return self.browser.run("(() => { const c = $('picture'); const d = c.getContext('2d').getImageData(0, 0, "
                                "c.width, c.height).data; let s = 0; for (const v of d) s += v; return s; })()")  # fmt: skip

    def settle(self):
        self.browser.wait("!document.body.classList.contains('waiting')")

    def pick(self, name, value):
        self.browser.run(f"$('{name}').value = {value!r}; $('{name}').dispatchEvent(new Event('input'));"
                         f"$('{name}').dispatchEvent(new Event('change'));")  # fmt: skip
        self.settle()

    def test_a_photograph_gets_classes_a_map_and_its_work(self):
        self.upload(self.picture)
        self.assertEqual(self.text("error"), "")
        self.assertIn("gas pump", self.text("result"))
        self.assertRegex(self.text("flops"), r"^[\d.]+ M \(\d+ %\)$")
        self.browser.wait("$('dense-ms').textContent !== '–'")
        self.assertRegex(self.text("dense-ms"), r"^[\d.]+$")
        self.shot("classes")

    def test_the_map_is_drawn_with_its_opacity_and_of_each_block(self):
        self.upload(self.picture)
        drawn = self.pixels()
        self.pick("opacity", "0")
        bare = self.pixels()
        self.pick("opacity", "100")
        full = self.pixels()
        self.assertEqual(len({drawn, bare, full}), 3)
        seen = {full}
        for block in range(4):
            self.pick("block", str(block))
            seen.add(self.pixels())
        self.assertEqual(len(seen), 5)

    def test_the_dial_sets_the_work(self):
        self.browser.run("$('model').value = 'dial'; $('model').dispatchEvent(new Event('change'))")
        self.upload(self.picture)
        usual = self.browser.run("answer.flops")
        low = self.browser.run("$('dial').min")
        self.pick("dial", low)
        self.browser.wait(f"answer && answer.flops < {usual}")
        self.assertIn("%", self.text("dial-value"))
        self.shot("dial")
        self.browser.run("$('reset').click()")
        self.browser.wait(f"answer && answer.flops === {usual}")
        self.assertEqual(self.text("dial-value"), "as trained")

    def test_a_model_without_a_curve_has_a_limit(self):
        self.upload(self.picture)
        usual = self.browser.run("answer.flops")
        share = self.browser.run("answer.flops / answer.dense_flops")
        self.assertAlmostEqual(float(self.browser.run("$('dial').value")), share, delta=0.006)
        limit = round(0.9 * share, 2)
        self.pick("dial", str(limit))
        self.browser.wait(f"answer && answer.flops < {usual}")
        self.assertLessEqual(self.browser.run("answer.flops / answer.dense_flops"), limit)

    def test_objects_have_boxes(self):
        self.browser.run("$('model').value = 'finder'; $('model').dispatchEvent(new Event('change'))")
        self.upload(self.picture)
        self.pick("score", "5")
        self.assertRegex(self.text("result-title"), r"^\d+ objects?$")
        many = self.pixels()
        self.shot("objects")
        self.pick("score", "95")
        self.assertEqual(self.text("result-title"), "0 objects")
        self.assertNotEqual(self.pixels(), many)

    def test_the_work_of_detectors_has_that_of_their_boxes(self):
        self.browser.run("$('model').value = 'finder'; $('model').dispatchEvent(new Event('change'))")
        self.upload(self.picture)
        self.assertGreater(self.browser.run("answer.box_flops"), 0)
        work = self.browser.run("flopsText(answer.flops + answer.box_flops)")
        self.assertTrue(self.text("flops").startswith(work + " ("), self.text("flops"))
        self.assertEqual(self.text("dense-flops"), self.browser.run("flopsText(answer.dense_flops + answer.dense_box_flops)"))

    def test_a_broken_file_is_an_error_and_others_go_on(self):
        self.upload(self.broken)
        self.assertRegex(self.text("error"), r"^broken\.png: cannot be decoded")
        self.shot("error")
        self.browser.run("document.body.dataset.marker = 1")
        self.upload(self.picture)
        self.browser.wait("$('result').textContent.includes('gas pump')")
        self.assertEqual(self.text("error"), "")

    def test_an_answer_is_shown_of_the_model_that_was_asked(self):
        self.upload(self.picture)
        self.settle()
        # The answer of the first model comes when another one, with fewer blocks, is chosen.
        self.browser.run(
            "window.seen = []; const showIt = show; show = () => { showIt(); seen.push([model().name, answer && !!answer.top]); };"
            "const fetchIt = fetch; let late = true; window.fetch = (...what) => { const reply = fetchIt(...what);"
            "if (!late) return reply; late = false; return new Promise(done => setTimeout(() => done(reply), 700)); };"
            "ask(false); $('model').value = 'finder'; $('model').dispatchEvent(new Event('change')); 0"
        )
        self.settle()
        self.browser.wait("answer")
        self.assertEqual(self.browser.run("seen"), [["finder", None], ["finder", False]])
        self.assertEqual(self.text("error"), "")

    def test_a_block_that_is_not_there_is_all_of_them(self):
        self.upload(self.picture)
        self.settle()
        drawn = self.pixels()
        self.browser.run("$('block').append(new Option('block 9', '9'))")
        self.pick("block", "9")
        self.assertEqual(self.pixels(), drawn)

    def test_several_photographs_stand_in_a_strip(self):
        self.upload(self.picture, self.picture)
        self.browser.wait("$('strip').children.length === 2")
        self.browser.run("$('strip').children[0].click()")
        self.browser.wait("$('strip').children[0].getAttribute('aria-current') === 'true'")
        self.settle()

    def test_photographs_are_pasted_and_dropped(self):
        for event, holder in (("paste", "clipboardData"), ("drop", "dataTransfer")):
            self.open()
            self.browser.run(
                "(async () => { const c = new OffscreenCanvas(200, 150); c.getContext('2d').fillRect(20, 20, 90, 70);"
                "const file = new File([await c.convertToBlob()], 'pasted.png'); const data = new DataTransfer();"
                f"data.items.add(file); const e = new Event('{event}', {{bubbles: true, cancelable: true}});"
                f"Object.defineProperty(e, '{holder}', {{value: data}}); document.dispatchEvent(e); }})()"
            )
            self.browser.wait("$('flops').textContent !== '–'")

    def test_the_camera_runs_live(self):
        self.browser.run("$('camera').click()")
        self.browser.wait("frames > 3 && answer")
        self.shot("camera")
        self.browser.run("$('camera').click()")
        self.browser.wait("!stream")

    def test_only_the_scripts_of_the_page_run(self):
        self.browser.run("{ const more = document.createElement('script'); more.textContent = 'window.ran = 1';"
                         "document.body.append(more); }")  # fmt: skip
        self.assertIsNone(self.browser.run("window.ran"))

    def test_a_narrow_screen_shows_everything(self):
        self.open(width=360, height=740)
        self.upload(self.picture)
        self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), 360)
        self.shot("narrow")


if __name__ == "__main__":
    if not find_browser():
        print("skipped: the page needs Chromium to be tested; install chromium")
        sys.exit(77)
    unittest.main()
