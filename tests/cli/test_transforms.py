#!/usr/bin/env python3
"""`penstock fft --check` passes on cases that cover every pair of size, ranks, type, transport and so on.

tests/cli/check_matrix runs all combinations.
"""

import json
import unittest

import command
import transforms


class Transforms(command.CommandTest):
    def run_cases_of(self, transport):
        cases = [case for case in transforms.covering_cases() if case["transport"] == transport]
        self.assertGreater(len(cases), 5)
        for case in cases:
            with self.subTest(**case):
                self.assertIsNone(transforms.find_mistake(self, case))

    def test_threads(self):
        self.run_cases_of("threads")

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_shared_memory(self):
        self.run_cases_of("shm")

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_messages(self):
        self.run_cases_of("mpi")

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_rma(self):
        self.run_cases_of("rma")

    @unittest.skipUnless(command.HAS_UCX, "a build without UCX")
    def test_ucx(self):
        self.run_cases_of("ucx")


class Directions(command.CommandTest):
    """Some directions, and sines and cosines."""

    CASES = (
        ("--type", "c2c", "--along", "x"),
        ("--type", "c2c", "--along", "zy", "--layout", "as-input"),
        ("--type", "r2c", "--along", "yz", "--precision", "single"),
        ("--type", "r2c", "--along", "z"),
        ("--type", "r2r"),
        ("--type", "r2r", "--kinds", "redft00,rodft10,rodft11", "--batch", "2", "--scaling", "symmetric"),
        ("--type", "r2r", "--kinds", "rodft00", "--along", "xy", "--precision", "single"),
    )

    def check(self, run, arguments):
        result = run("fft", "--size", "24x25x18", "--check", "--reps", "1", "--effort", "estimate", "--json", "-", *arguments)
        self.assertEqual(result.status, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertLessEqual(report["relative_error"], report["tolerance"])
        self.assertGreater(report["relative_error"], 0)
        return report

    def test_threads(self):
        for arguments in self.CASES:
            with self.subTest(arguments=arguments):
                self.check(lambda *all: self.run_alone(*all, "--ranks", "3", "--threads", "2"), arguments)

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_messages(self):
        for arguments in self.CASES[1:6:4]:
            with self.subTest(arguments=arguments):
                self.check(
                    lambda *all: self.start([command.MPIEXEC, "-n", "2", command.COMMAND, *all, "--transport", "mpi"]),
                    arguments,
                )

    def test_report(self):
        report = self.check(self.run_alone, ("--type", "r2r", "--kinds", "redft00,rodft10,rodft11", "--along", "zx"))
        self.assertEqual(report["type"], "r2r")
        self.assertEqual(report["along"], "xz")
        self.assertEqual(report["kinds"], ["redft00", "rodft10", "rodft11"])
        self.assertEqual([stage["transforms_along"] for stage in report["forward_stages"]], ["x", "z"])
        self.assertEqual(report["rate_convention"], "2.5 N log2 N")

    def test_stages_tell_what_bounds_them(self):
        report = self.check(self.run_alone, ("--type", "r2c"))
        for stages in report["forward_stages"], report["backward_stages"]:
            self.assertEqual(len(stages), 3)
            arithmetic_s = sum(stage["limit_arithmetic_s"] for stage in stages)
            self.assertAlmostEqual(arithmetic_s / report["limit_arithmetic_s"], 1, places=6)
            for stage in stages:
                self.assertEqual(stage["limit_memory_s"], 0)  # the field stays in cache
                times_s = [stage[part + "_s"] for part in ("gather", "transform", "scatter", "wait")]
                is_waiting = 2 * stage["wait_s"] > sum(times_s)
                self.assertEqual(stage["bound_by"], "waiting" if is_waiting else "arithmetic")


if __name__ == "__main__":
    unittest.main()
