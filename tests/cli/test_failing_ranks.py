#!/usr/bin/env python3
"""A rank that fails alone, lacks a file, or is killed ends the run of all ranks within seconds."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

import command

FAIL_ALONE = os.environ["PENSTOCK_FAIL_ALONE"]


class FailingRanks(command.CommandTest):
    def test_one_that_fails_while_the_others_wait_for_it(self):
        result = self.start([command.MPIEXEC, "-n", "3", FAIL_ALONE, "midway"])
        self.assertNotEqual(result.status, 0)
        self.assertEqual(result.lines, ["penstock: rank 2 alone: no disk"])

    def test_one_that_fails_after_the_others_have_ended(self):
        result = self.start([command.MPIEXEC, "-n", "3", FAIL_ALONE, "late"])
        self.assertEqual(result.status, 1)
        self.assertEqual(result.lines, ["penstock: no disk"])

    def test_one_that_cannot_see_the_input_file(self):
        other = self.folder / "other"
        other.mkdir()
        (self.folder / "field.npy").write_text("not looked at by all")
        line = [command.COMMAND, "fft", "--input", "field.npy"]
        result = self.start([command.MPIEXEC, "-n", "1", *line, ":", "-n", "1", "-wdir", str(other), *line])
        self.assertEqual(result.status, 2)
        self.assertEqual(len(result.lines), 1, result.stderr)

    def test_one_that_is_killed(self):
        line = [command.MPIEXEC, "-n", "2", command.COMMAND, "fft", "--size", "64x64x64", "--reps", "1000000"]
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.cache)}
        with subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as launcher:
            try:
                self.assertIn(b"Machine", launcher.stdout.readline())  # the transforms are about to run
                os.kill(self.ranks_below(launcher.pid)[-1], signal.SIGKILL)
                killed_s = time.monotonic()
                self.assertNotEqual(launcher.wait(timeout=30), 0)
                self.assertLess(time.monotonic() - killed_s, 30)
            finally:
                launcher.kill()

    @staticmethod
    def ranks_below(launcher):
        """The processes of the command that descend from `launcher`."""
        parents, ranks = {}, []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                process = int(folder.name)
                parents[process] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if os.readlink(folder / "exe") == os.path.realpath(command.COMMAND):
                    ranks.append(process)
            except OSError:  # it has ended meanwhile
                continue

        def descends(process):
            while process not in (0, launcher):
                process = parents.get(process, 0)
            return process == launcher

        return sorted(process for process in ranks if descends(process))


if __name__ == "__main__":
    unittest.main()
