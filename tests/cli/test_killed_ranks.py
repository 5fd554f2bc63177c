#!/usr/bin/env python3
"""A rank that is killed ends the run of all ranks within seconds, with one message, whether or not the launcher sees to it.

PENSTOCK_TEST_KILLS says how many kills at random moments each test makes (1), over which transports
PENSTOCK_TEST_TRANSPORTS (all that the build has); PENSTOCK_TEST_SEED repeats them.
"""

import contextlib
import os
import pathlib
import random
import signal
import subprocess
import time
import unittest

import command

RANKS = 4
KILLS = int(os.environ.get("PENSTOCK_TEST_KILLS", "1"))
SEED = int(os.environ.get("PENSTOCK_TEST_SEED", time.time_ns() % 1000000))
LIMIT_S = 10
TRANSPORTS = os.environ.get("PENSTOCK_TEST_TRANSPORTS", " ".join(command.TRANSPORTS)).split()
ENDLESS = ["fft", "--size", "64x48x32", "--reps", "100000000"]


def is_open_mpi():
    version = subprocess.run([command.MPIEXEC, "--version"], capture_output=True, text=True, check=False).stdout
    return "Open MPI" in version or "OpenRTE" in version


def messages(errors):
    return [line for line in errors.splitlines() if line.startswith("penstock:")]


class KilledRanks(command.CommandTest):
    def kill_one(self, transport, launcher_options, chance):
        """Returns what the command and its launcher printed of errors, and which rank was killed."""
        line = [command.MPIEXEC, *launcher_options, "-n", str(RANKS), command.COMMAND, *ENDLESS]
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.cache)}
        errors = self.folder / "errors"
        with errors.open("w") as stderr, subprocess.Popen(
            [*line, "--transport", transport], env=environment, stdout=subprocess.PIPE, stderr=stderr
        ) as launcher:
            ranks = []
            try:
                self.assertIn(b"Machine", launcher.stdout.readline())  # the transforms are about to run
                ranks = self.ranks_below(launcher.pid)
                self.assertEqual(len(ranks), RANKS)
                time.sleep(chance.uniform(0, 0.5))
                victim = chance.choice(sorted(ranks))
                os.kill(ranks[victim], signal.SIGKILL)
                killed_s = time.monotonic()
                status = launcher.wait(timeout=60)  # of no meaning where the launcher has looked away
                self.assertTrue(status != 0 or launcher_options)
                self.assertLess(time.monotonic() - killed_s, LIMIT_S)
                for process in ranks.values():
                    self.assertFalse(pathlib.Path(f"/proc/{process}/exe").exists(), "a rank is left")
            finally:
                launcher.kill()
                for process in ranks.values() if ranks else []:
                    if pathlib.Path(f"/proc/{process}").exists():
                        os.kill(process, signal.SIGKILL)
        return errors.read_text(), victim

    def kill_some(self, launcher_options, check):
        chance = random.Random(SEED)
        for transport in TRANSPORTS:
            for kill in range(KILLS):
                with self.subTest(transport=transport, seed=SEED, kill=kill):
                    check(*self.kill_one(transport, launcher_options, chance))

    def test_where_the_launcher_ends_all(self):
        def check(errors, _):
            self.assertLessEqual(len(messages(errors)), 1, errors)  # the launcher itself tells of it

        self.kill_some([], check)

    def test_where_the_launcher_leaves_the_others(self):
        if not is_open_mpi():
            self.skipTest("this launcher does not work on without one of its ranks")

        def check(errors, victim):
            lines = messages(errors)
            self.assertEqual(len(lines), 1, errors)
            self.assertIn(f"rank {victim} (process ", lines[0])
            self.assertIn("has died", lines[0])

        self.kill_some(["--enable-recovery"], check)

    @staticmethod
    def ranks_below(launcher):
        """The processes of the command that descend from `launcher`, by rank."""
        parents = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])

        def descends(process):
            while process not in (0, launcher):
                process = parents.get(process, 0)
            return process == launcher

        ranks = {}
        for folder in (pathlib.Path(f"/proc/{process}") for process in parents if descends(process)):
            if os.readlink(folder / "exe") == os.path.realpath(command.COMMAND):
                variables = dict(entry.partition(b"=")[::2] for entry in (folder / "environ").read_bytes().split(b"\0"))
                rank = variables.get(b"OMPI_COMM_WORLD_RANK") or variables[b"PMI_RANK"]
                ranks[int(rank)] = int(folder.name)
        return ranks


if __name__ == "__main__":
    unittest.main()
