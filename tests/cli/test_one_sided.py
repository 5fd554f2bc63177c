#!/usr/bin/env python3
"""Over networks that put, MPI's sends carry no field and no matrix: a profiling library counts what they carry."""

import os
import pathlib
import unittest

import command

LIBRARY = os.environ["PENSTOCK_COUNT_SENDS"]
MOST_BYTES = 4096
FFT = ("fft", "--size", "48x50x52", "--check", "--reps", "2", "--planning", "estimate", "--threads", "1")
RUNS = {
    "complex": FFT,
    "real": (*FFT, "--type", "r2c"),
    "sines and cosines": (*FFT, "--type", "r2r"),
    "batch": (*FFT, "--batch", "3"),
    "as input": (*FFT, "--layout", "as-input"),
    "slabs": (*FFT, "--algorithm", "slabs"),
    "many messages, some late": (*FFT, "--grain", "3", "--late", "2"),
    "filtered": (*FFT, "--filter-lowpass", "9"),
    "multiply": ("gemm", "--size", "300", "--reps", "1", "--check", "--threads", "1"),
}


@unittest.skipIf(command.IS_SANITIZED, "a sanitizer wants to be loaded first")
class OneSided(command.CommandTest):
    def most_sent(self, ranks, transport, arguments):
        """The most bytes that a send of any rank has carried, and what each rank tells."""
        line = [command.MPIEXEC, "-n", str(ranks), "env", f"LD_PRELOAD={LIBRARY}", "PENSTOCK_SENDS=sends", command.COMMAND]
        result = self.start([*line, *arguments, "--transport", transport])
        self.assertEqual(result.status, 0, result.stderr)
        told = [pathlib.Path(self.folder, f"sends.{rank}").read_text() for rank in range(ranks)]
        return max(int(one.split()[0]) for one in told), told

    def expect_puts(self, transport):
        for name, arguments in RUNS.items():
            for ranks in (2, 3, 6) if name == "complex" else (2, 3):
                with self.subTest(name=name, ranks=ranks):
                    most, told = self.most_sent(ranks, transport, arguments)
                    self.assertLessEqual(most, MOST_BYTES, told)

    def test_rma_puts(self):
        self.expect_puts("rma")

    @unittest.skipUnless(command.HAS_UCX, "a build without UCX")
    def test_ucx_puts(self):
        self.expect_puts("ucx")

    def test_mpi_sends_which_is_counted(self):
        most, told = self.most_sent(2, "mpi", RUNS["complex"])
        self.assertGreater(most, MOST_BYTES, told)


if __name__ == "__main__":
    unittest.main()
