#!/usr/bin/env python3
"""Over networks that put, MPI's sends carry no field and no matrix: a profiling library counts what they carry."""

import os
import pathlib
import unittest

import command

LIBRARY = os.environ["PENSTOCK_COUNT_SENDS"]
BRICKS = os.environ["PENSTOCK_TRANSFORM_BRICKS"]
MOST_BYTES = 4096
ONCE = ("--check", "--threads", "1", *command.KNOWN_MACHINE)
FFT = ("fft", "--size", "48x50x52", "--reps", "2", "--effort", "estimate", *ONCE)
GEMM = ("gemm", "--size", "300", "--reps", "1", *ONCE)
RUNS = {
    "complex": FFT,
    "real": (*FFT, "--type", "r2c"),
    "sines and cosines": (*FFT, "--type", "r2r"),
    "batch": (*FFT, "--batch", "3"),
    "as input": (*FFT, "--layout", "as-input"),
    "slabs": (*FFT, "--algorithm", "slabs"),
    "many messages, some deferred": (*FFT, "--planes-per-message", "3", "--deferred-parts", "2"),
    "filtered": (*FFT, "--filter-lowpass", "9"),
    "multiply": ("gemm", "--size", "300", "--reps", "1", "--check", "--threads", "1"),
    "multiply as Cannon": (*GEMM, "--algorithm", "cannon"),
    "multiply turned": (*GEMM, "--algorithm", "cannon", "--transpose-a", "--transpose-b"),
}


@unittest.skipIf(command.IS_SANITIZED, "a sanitizer wants to be loaded first")
class OneSided(command.CommandTest):
    def most_sent(self, ranks, program):
        """The most bytes that a send of any rank has carried, and what each rank tells."""
        environment = ["env", f"LD_PRELOAD={LIBRARY}", "PENSTOCK_SENDS=sends"]
        result = self.start([command.MPIEXEC, "-n", str(ranks), *environment, *program])
        self.assertEqual(result.status, 0, result.stderr)
        told = [pathlib.Path(self.folder, f"sends.{rank}").read_text() for rank in range(ranks)]
        return max(int(one.split()[0]) for one in told), told

    def expect_puts(self, transport):
        """All of them on 3 ranks, and what differs most on 2 and 6."""
        for ranks, layers in {2: "2,1,1", 3: "3,1,1", 6: "2,1,3"}.items():
            runs = {**RUNS, "multiply in layers": (*GEMM, "--algorithm", "layered", "--layers", layers)}
            programs = {name: (command.COMMAND, *run, "--transport", transport) for name, run in runs.items()}
            programs["bricks and their convolution"] = (BRICKS, transport)
            names = programs if ranks == 3 else ("complex", "multiply in layers", "bricks and their convolution")
            for name in names:
                with self.subTest(name=name, ranks=ranks):
                    most, told = self.most_sent(ranks, programs[name])
                    self.assertLessEqual(most, MOST_BYTES, told)

    def test_rma_puts(self):
        self.expect_puts("rma")

    @unittest.skipUnless(command.HAS_UCX, "a build without UCX")
    def test_ucx_puts(self):
        self.expect_puts("ucx")

    def test_mpi_sends_which_is_counted(self):
        most, told = self.most_sent(2, (command.COMMAND, *RUNS["complex"], "--transport", "mpi"))
        self.assertGreater(most, MOST_BYTES, told)


if __name__ == "__main__":
    unittest.main()
