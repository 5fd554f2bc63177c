#!/usr/bin/env python3
"""`penstock gemm --device`: products on what OpenCL or CUDA shows, checked; and what is said where that cannot be."""

import json
import os
import tempfile
import unittest

import command


@unittest.skipUnless(command.has_device_blas(), "this system has no device, or no BLAS for it")
class OnDevices(command.CommandTest):
    @classmethod
    def setUpClass(cls):
        # PoCL's, for all tests: it would compile the BLAS's kernels in each test's own cache.
        kernels = tempfile.TemporaryDirectory()
        cls.addClassCleanup(kernels.cleanup)
        os.environ["POCL_CACHE_DIR"] = kernels.name
        cls.addClassCleanup(os.environ.pop, "POCL_CACHE_DIR")

    def run_device(self, *arguments):
        result = self.run_alone("gemm", "--device", "any", "--reps", "1", "--check", "--json", "-", *arguments)
        self.assertEqual(result.status, 0, result.stderr)
        figures = json.loads(result.stdout)
        self.assertEqual(figures["wrong_rows"], 0)
        return figures

    def test_matrices_larger_than_the_memory_that_is_given_are_multiplied(self):
        for arguments in (
            ["--alpha", "2", "--beta=-1", "--transpose-a"],
            ["--type", "float32", "--transpose-a", "--adjoint-b"],
        ):
            with self.subTest(arguments):
                figures = self.run_device("--size", "300,200,250", "--memory", "200KiB", *arguments)
                self.assertGreater(figures["matrix_bytes"], figures["memory_bytes"])
                self.assertLessEqual(figures["device_bytes"], figures["memory_bytes"])
                self.assertGreater(figures["tiling"]["tiles"], 1)
                self.assertGreater(figures["to_device_bytes"] + figures["to_host_bytes"], figures["matrix_bytes"])

    def test_matrices_that_fit_cross_the_bus_once(self):
        figures = self.run_device("--size", "100,120,140")
        self.assertEqual(figures["to_device_bytes"], 8 * 140 * (100 + 120))
        self.assertEqual(figures["to_host_bytes"], 8 * 100 * 120)
        self.assertGreater(figures["fraction_of_limit"], 0)

    def test_a_table_tells_tiles_bus_and_limit(self):
        result = self.run_alone("gemm", "--device", "any", "--size", "64", "--reps", "1", "--check")
        self.assertEqual(result.status, 0, result.stderr)
        for title in ("Device", "BLAS", "Tiles", "Memory", "Bus", "Time", "Limit", "Check"):
            self.assertRegex(result.stdout, rf"(?m)^{title} ")
        self.assertRegex(result.stdout, "exact")

    def test_a_timeline_has_the_multiplies_and_their_waits(self):
        self.run_device("--size", "64", "--trace", "trace.json")
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        names = {event["name"] for event in events}
        self.assertTrue({"multiply 1", "wait for device"} <= names, names)

    def test_too_little_memory_is_refused_with_what_would_do(self):
        result = self.run_alone("gemm", "--device", "any", "--size", "64", "--memory", "1KiB")
        self.assertEqual(result.status, 2, result.stderr)
        self.assertEqual(len(result.lines), 1, result.stderr)
        self.assertIn("give at least", result.lines[0])


@unittest.skipUnless(command.HAS_GEMM, "a build without gemm")
class Refusals(command.CommandTest):
    def test_what_devices_do_not_do_is_one_line(self):
        for arguments, words in (
            (["--size", "8", "--device", "opencl:99"], "no device opencl:99" if command.has_device() else "has no device"),
            (["--a", "a.npy", "--b", "b.npy", "--c", "c.npy", "--device", "any"], "give --size, and no files"),
            (["--size", "8", "--device", "any", "--ranks", "2"], "one rank"),
            (["--size", "8", "--device", "any", "--type", "complex128"], "float32 and float64"),
            (["--size", "8", "--device", "any", "--alpha", "0"], "nothing is multiplied"),
            (["--size", "8", "--device", "any", "--block", "4"], "--block goes with multiplies on the processor"),
            (["--size", "8", "--device", "any", "--algorithm", "cannon"], "leave it out"),
            (["--size", "8", "--device", "any", "--no-scratch"], "leave it out"),
        ):
            with self.subTest(arguments):
                result = self.run_alone("gemm", *arguments)
                self.assertEqual(result.status, 2, result.stderr)
                self.assertEqual(len(result.lines), 1, result.stderr)
                self.assertIn(words, result.lines[0])


if __name__ == "__main__":
    unittest.main()
