#!/usr/bin/env python3
"""--transport and PENSTOCK_TRANSPORT say what carries data between ranks, and what is not there is refused."""

import json
import unittest

import command

RUN = ("fft", "--size", "8x8x8", "--reps", "1", "--effort", "estimate", "--threads", "1", "--json", "-")
NAMES = "auto, threads, shm, mpi, rma, ucx, shm+mpi, shm+rma, shm+ucx"


class TransportChoice(command.CommandTest):
    def run_with(self, variable, line):
        return self.start(line, environment={"PENSTOCK_TRANSPORT": variable})

    def assert_refused(self, result, *parts):
        self.assertEqual(result.status, 2, result.stderr)
        self.assertEqual(len(result.lines), 1, result.stderr)
        for part in parts:
            self.assertIn(part, result.lines[0])

    def transport_of(self, result):
        self.assertEqual(result.status, 0, result.stderr)
        return json.loads(result.stdout)["transport"]

    def test_names_that_are_unknown_are_refused(self):
        self.assert_refused(self.run_with("pigeon", [command.COMMAND, *RUN]), "PENSTOCK_TRANSPORT=pigeon", NAMES)
        self.assert_refused(self.run_alone(*RUN, "--transport", "shm+pigeon"), "--transport shm+pigeon", NAMES)

    def test_what_is_not_built_in_is_refused_with_what_to_install(self):
        if not command.MPIEXEC:
            self.assert_refused(self.run_with("rma", [command.COMMAND, *RUN]), "rma", "libopenmpi-dev")
        elif not command.HAS_UCX:
            self.assert_refused(self.run_with("ucx", [command.COMMAND, *RUN]), "ucx", "libucx-dev")

    def test_the_version_lists_what_is_built_in(self):
        lines = dict(line.split(None, 1) for line in self.run_alone("--version").stdout.splitlines())
        listed = lines["transports"].split(" (")[0].split(", ")
        for name in NAMES.split(", "):
            needs = {"auto": True, "threads": True}.get(name, command.HAS_UCX if "ucx" in name else bool(command.MPIEXEC))
            self.assertEqual(name in listed, needs, name)
        self.assertEqual(lines["UCX"] != "not built in", command.HAS_UCX)

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_the_variable_chooses_and_the_option_wins(self):
        line = [command.MPIEXEC, "-n", "2", command.COMMAND, *RUN]
        for name in command.TRANSPORTS:
            self.assertEqual(self.transport_of(self.run_with(name, line)), name)
        self.assertEqual(self.transport_of(self.run_with("auto", line)), "shm")
        self.assertEqual(self.transport_of(self.run_with("shm", [*line, "--transport", "mpi"])), "mpi")
        self.assertEqual(self.transport_of(self.run_with("pigeon", [*line, "--transport", "mpi"])), "mpi")
        self.assert_refused(self.run_with("threads", line), "PENSTOCK_TRANSPORT=threads", "--ranks 2")

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_a_variable_that_differs_between_ranks_is_refused(self):
        ranks = [["-n", "1", "env", f"PENSTOCK_TRANSPORT={name}", command.COMMAND, *RUN] for name in ("mpi", "rma")]
        result = self.start([command.MPIEXEC, *ranks[0], ":", *ranks[1]])
        self.assert_refused(result, "PENSTOCK_TRANSPORT", "rank 0 has 'mpi', rank 1 has 'rma'")


if __name__ == "__main__":
    unittest.main()
