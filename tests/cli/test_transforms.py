#!/usr/bin/env python3
"""`penstock fft --check` agrees with FFTW on cases that cover every pair of size, ranks, type, transport and so on.

tests/cli/check_matrix runs all combinations.
"""

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


if __name__ == "__main__":
    unittest.main()
