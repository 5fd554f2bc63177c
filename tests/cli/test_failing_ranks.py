#!/usr/bin/env python3
"""A rank that fails alone or lacks a file ends the run of all ranks within seconds."""

import os
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


if __name__ == "__main__":
    unittest.main()
