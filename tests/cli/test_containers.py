#!/usr/bin/env python3
"""Containers on one host, which have names of their own and share its memory: what they want together is refused.

Each rank is given a host's name of its own, as containers have, and an address space in which it could not take what it
asks for, should nobody refuse it.
"""

import pathlib
import re
import subprocess
import unittest

import command

NODES = 'ulimit -v "$1"; hostname "container-$PENSTOCK_RANK"; shift; exec "$@"'
RANK = 'PENSTOCK_RANK="${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" exec unshare --uts sh -c "$0" sh "$@"'


def available_bytes():
    return int(re.search(r"MemAvailable: +(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) * 1024


def may_name_hosts():
    return subprocess.run(["unshare", "--uts", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


@unittest.skipUnless(may_name_hosts(), "unshare --uts is not allowed here")
@unittest.skipIf(command.IS_SANITIZED, "a sanitizer takes more addresses than any limit")
class Containers(command.CommandTest):
    def expect_refusal(self, *arguments):
        """Of two ranks, of which each wants 0.6 to 0.9 of the memory."""
        limit_kib = str(available_bytes() // 3 // 1024)
        line = [command.MPIEXEC, "-n", "2", "sh", "-c", RANK, NODES, limit_kib, command.COMMAND, *arguments]
        result = self.start(line)
        self.assertEqual(result.status, 2, result.stderr)
        self.assertEqual(len(result.lines), 1, result.stderr)
        self.assertRegex(result.lines[0], r"wants [\d.]+ .iB of memory on container-0, which has")

    def test_a_transform(self):
        # A rank has half of the field, as much in its segment, and up to as much in buffers: 16 bytes a point.
        edge = round((0.6 * available_bytes() / 16) ** (1 / 3))
        self.expect_refusal("fft", "--size", f"{edge}x{edge}x{edge}", "--transport", "mpi")

    def test_a_multiply(self):
        # A rank has a half of three matrices.
        edge = round((0.75 * available_bytes() / (8 * 1.5)) ** (1 / 2))
        self.expect_refusal("gemm", "--size", str(edge), "--transport", "mpi")


if __name__ == "__main__":
    unittest.main()
