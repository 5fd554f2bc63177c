#!/usr/bin/env python3
"""--report and penstock compare: pages that stand by themselves and show what the JSON says; JSON that names its schema.

The pages are opened in Chromium, wide and narrow, light and dark (page_check.py).
"""

import json
import re
import unittest

import command
import npy_files
import page_check

needs_pages = unittest.skipUnless(command.HAS_PAGES, "a build without pages has no reports")


def text_of(page):
    return page.evaluate("document.body.innerText")


@needs_pages
class Files(command.CommandTest):
    def report(self, *arguments):
        result = self.run_alone(*arguments, "--report", "report.html", "--json", "result.json")
        self.assertEqual(result.status, 0, result.stderr)
        return (self.folder / "report.html").read_text(), json.loads((self.folder / "result.json").read_text())

    def test_the_page_holds_the_json_and_names_no_other_file(self):
        page, result = self.report("fft", "--size", "8x6x4", "--reps", "1")
        self.assertTrue(page.startswith("<!doctype html>") and page.endswith("</html>\n"))
        self.assertLess(len(page), 1 << 20)
        run = json.loads(re.search(r'<script type="application/json" id="run">(.*?)</script>', page, re.DOTALL)[1])
        self.assertEqual({"schema": "fft", **run["result"]}, result)
        markup = re.sub(r"<script.*</script>", "", page, flags=re.DOTALL)
        self.assertNotRegex(markup, r"(src|href)=|url\(|@import")

    def test_text_of_the_user_is_no_markup(self):
        npy_files.write(self.folder / "<b>.npy", (4, 4, 4), "<c16", range(128))
        page, _ = self.report("fft", "--size", "4x4x4", "--input", "<b>.npy", "--reps", "1")
        self.assertNotIn("<b>", page)
        self.assertIn("\\u003cb>", page)

    def test_a_report_that_cannot_be_written_is_refused_before_any_work(self):
        for path in "nowhere/report.html", "-":
            with self.subTest(path=path):
                result = self.run_alone("fft", "--size", "8x8x8", "--report", path)
                self.assertEqual(result.status, 2)
                self.assertEqual(len(result.lines), 1)
                self.assertIn(path, result.lines[0])
        self.assertEqual(self.left_behind(), [])

    def test_no_page_is_left_where_the_run_fails(self):
        result = self.run_alone("fft", "--size", "0x1x1", "--report", "report.html")
        self.assertEqual(result.status, 2)
        self.assertEqual(self.left_behind(), [])


class Compare(command.CommandTest):
    def write(self, name, **result):
        (self.folder / name).write_text(json.dumps(result))

    def test_ratios_and_the_fitted_law(self):
        # A serial part of a tenth.
        for workers in 1, 2, 4, 8:
            self.write(f"{workers}.json", schema="nas-ft", ranks=workers, threads=1, time_s=0.1 + 0.9 / workers)
        result = self.run_alone("compare", "1.json", "2.json", "4.json", "8.json", "--json", "-")
        self.assertEqual(result.status, 0, result.stderr)
        facts = json.loads(result.stdout)
        [measured] = facts["measured"]
        self.assertEqual(measured["values"], [0.1 + 0.9 / workers for workers in (1, 2, 4, 8)])
        self.assertAlmostEqual(measured["ratios"][2], 0.325)
        self.assertEqual([each["values"] for each in facts["asked"] if each["key"] == "ranks"], [[1, 2, 4, 8]])
        self.assertAlmostEqual(facts["scaling"]["points"][3]["speedup"], 1 / (0.1 + 0.9 / 8))
        self.assertAlmostEqual(facts["scaling"]["points"][3]["efficiency"], 1 / (0.8 + 0.9))
        self.assertAlmostEqual(facts["scaling"]["serial"]["value"], 0.1)

    def test_rows_are_compared_by_what_they_are(self):
        rows = [{"way": "put", "bytes": 8, "time_min_s": 1e-6}, {"way": "get", "bytes": 8, "time_min_s": 2e-6}]
        self.write("a.json", schema="bench-latency", results=rows)
        self.write("b.json", schema="bench-latency", results=[{**rows[1], "time_min_s": 1e-6}])
        result = self.run_alone("compare", "a.json", "b.json")
        self.assertEqual(result.status, 0, result.stderr)
        lines = [line.split() for line in result.stdout.splitlines()]
        self.assertIn("results put 8: time_min_s 1.00 us -".split(), lines)
        self.assertIn("results get 8: time_min_s 2.00 us 1.00 us (0.50)".split(), lines)

    def test_problems_that_differ_are_no_scaling_series(self):
        self.write("a.json", schema="fft", size=[8, 8, 8], ranks=1, forward_min_s=1.0)
        self.write("b.json", schema="fft", size=[8, 8, 9], ranks=2, forward_min_s=1.0)
        result = self.run_alone("compare", "a.json", "b.json", "--json", "-")
        self.assertIsNone(json.loads(result.stdout)["scaling"])

    def test_what_cannot_be_compared_is_refused(self):
        self.write("a.json", schema="fft", forward_min_s=1.0)
        self.write("b.json", schema="nas-ft", time_s=1.0)
        self.write("plain.json", time_s=1.0)
        (self.folder / "text.json").write_text("no JSON")
        for files, words in (
            (("a.json", "b.json"), "a.json is of fft and b.json of nas-ft"),
            (("a.json", "plain.json"), 'plain.json: not what --json writes: it has no "schema"'),
            (("a.json", "text.json"), "text.json: not JSON"),
            (("a.json", "missing.json"), "missing.json"),
            (("a.json",), "At least 2 required"),
        ):
            with self.subTest(files=files):
                result = self.run_alone("compare", *files)
                self.assertEqual(result.status, 2)
                self.assertEqual(len(result.lines), 1)
                self.assertIn(words, result.lines[0])


@needs_pages
class Pages(page_check.PageTest):
    """Each kind of report as a reader opens it."""

    def shown(self, *arguments, ranks=1):
        result = self.run_on(ranks, *arguments, "--report", "report.html")
        self.assertEqual(result.status, 0, result.stderr)
        self.check_page(self.folder / "report.html", name="-".join(arguments[:2]))
        return text_of(self.open(self.folder / "report.html"))

    def test_a_transform(self):
        ranks = 2 if command.MPIEXEC else 1
        text = self.shown("fft", "--size", "16x12x8", "--reps", "2", "--check", *command.KNOWN_MACHINE, ranks=ranks)
        for words in "Where the time went", "The plan", "a rank", "The roofline", "twice the", "The command that repeats this":
            self.assertIn(words, text)
        if ranks > 1:
            self.assertIn("Who sends what to whom", text)
            self.assertIn("Who waited for whom", text)  # the timeline
            # Half of what each of two ranks has goes to the other: 16 * 12 * 8 numbers of 16 bytes in all.
            self.assertIn("To other ranks 12.29 kB in 2 messages; 12.29 kB stay with their rank.", text)

    def test_transforms_of_other_kinds(self):
        self.shown("fft", "--size", "8x6x4", "--ranks", "3", "--type", "r2c", "--layout", "as-input", "--reps", "1")
        self.shown("fft", "--size", "1x1x1", "--reps", "1")

    def test_a_transform_on_devices(self):
        if not command.has_device():
            self.skipTest("this system has no device")
        text = self.shown("fft", "--device", "any", "--size", "16x12x8", "--ranks", "2", "--reps", "1", "--fields-on", "host")
        for words in "Where the time went", "Measured and possible", "set by the":
            self.assertIn(words, text)

    def test_a_multiply_on_a_device(self):
        if not command.has_device_blas():
            self.skipTest("this system has no device, or no BLAS for it")
        text = self.shown("gemm", "--device", "any", "--size", "60,50,70", "--reps", "1", "--memory", "100KiB")
        for words in "Measured, predicted, possible", "set by the", "panels 32 deep":
            self.assertIn(words, text)

    def test_files(self):
        npy_files.write(self.folder / "in.npy", (4, 5, 6), "<c16", range(240))
        self.shown("fft", "--input", "in.npy", "--output", "out.npy", "--memory", "1MiB")

    @unittest.skipUnless(command.HAS_GEMM, "needs OpenBLAS")
    def test_multiplies(self):
        self.assertIn("Ranks", self.shown("gemm", "--size", "40", "--ranks", "2", "--reps", "1"))
        self.assertIn("Ways beside each other", self.shown("bench", "gemm", "--n", "32", "--rounds", "1"))

    def test_nas_ft(self):
        self.assertIn("successful", self.shown("nas-ft", "--class", "S"))

    def test_messages(self):
        for name in "latency", "bandwidth", "exchange":
            sizes = ("--rounds", "2", "--sizes", "8:4096", "--ranks", "2")
            self.assertIn("over bytes", self.shown("bench", name, *sizes))

    @unittest.skipUnless(command.MPIEXEC, "needs MPI")
    def test_datatypes(self):
        self.assertIn("Times as fast as", self.shown("bench", "pack", "--filter", "NAS_LU_x_(12|64)$", "--rounds", "1"))

    def test_a_calibration(self):
        text = self.shown("calibrate", "--quick", "-o", "calibrated.toml", "--ranks", "2")
        self.assertIn("Messages by transport", text)

    def test_models(self):
        text = self.shown("model", "fft", "--machine", "hector", "--sweep", "nodes=1..64:x2")
        self.assertIn("over nodes", text)
        self.assertIn("twice the", self.shown("model", "gemm", "--machine", "frontier", "--nodes", "4"))
        self.shown("model", "scaling", "--fit", "1:1,2:1.9,4:3.4,8:5.6,12:6.2")

    def test_reproductions(self):
        self.assertIn("printed figures reproduce", self.shown("reproduce"))

    def test_a_comparison(self):
        for ranks in 1, 2, 3:
            arguments = ("--size", "12x12x12", "--threads", "1", "--reps", "1", "--json", f"{ranks}.json")
            self.assertEqual(self.run_alone("fft", "--ranks", str(ranks), *arguments).status, 0)
        text = self.shown("compare", "1.json", "2.json", "3.json")
        self.assertIn("Amdahl's law", text)


if __name__ == "__main__":
    unittest.main()
