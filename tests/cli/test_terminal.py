#!/usr/bin/env python3
"""A terminal gets emphasis, bars and the progress of long work; a pipe, and a terminal that wants none, plain text."""

import re
import unittest

import command
import npy_files

MODEL = ("model", "fft", "--machine", "gigabit-ethernet", "--size", "128x128x128")
TRANSFORM = ("fft", "--size", "32x32x32", "--reps", "3", *command.KNOWN_MACHINE)
RENDITION = re.compile(r"\x1b\[[0-9;]*m")


class Output(command.CommandTest):
    def on_terminal(self, *arguments, **environment):
        """What standard output shows."""
        status, shown, _ = self.start_on_terminal([command.COMMAND, *arguments], environment, ("stdout",))
        self.assertEqual(status, 0, shown)
        return shown

    def in_pipe(self, *arguments, **environment):
        """What standard output, and standard error, get."""
        result = self.start([command.COMMAND, *arguments], environment={"TERM": "xterm", **environment})
        self.assertEqual((result.status, result.stderr), (0, ""))
        return result.stdout

    def test_a_terminal_gets_the_answer_emphasised_and_the_parts_of_the_time_drawn(self):
        shown = self.on_terminal(*MODEL, "--nodes", "4")
        self.assertRegex(shown, r"time +\x1b\[1m59\.5 ms\x1b\[0m\n")
        self.assertRegex(shown, r"bound by +\x1b\[1mlink bandwidth\x1b\[0m\n")
        drawn = [line for line in shown.splitlines() if "\x1b[30;46m" in line]
        self.assertEqual(len(drawn), 1)
        self.assertRegex(drawn[0], r"\x1b\[30;46m transfers +\x1b\[0m\x1b\[30;43m ")
        self.assertLess(len(RENDITION.sub("", drawn[0])), 80)
        # All else is what a pipe gets.
        text = RENDITION.sub("", "\n".join(line for line in shown.splitlines() if line != drawn[0])) + "\n"
        self.assertEqual(text, self.in_pipe(*MODEL, "--nodes", "4"))

    def test_of_a_sweep_the_shortest_time_is_emphasised(self):
        rows = self.on_terminal(*MODEL, "--sweep", "nodes=1..16:x2").splitlines()
        strong = [row for row in rows if row.startswith("\x1b[1m") and row.endswith("\x1b[0m")]
        self.assertEqual([RENDITION.sub("", row).split()[0] for row in strong], ["1"])

    def test_a_pipe_gets_plain_text(self):
        for arguments in (MODEL, TRANSFORM, ("nas-ft", "--class", "S"), ("reproduce", "all"), ("--help",)):
            with self.subTest(arguments):
                self.assertNotIn("\x1b", self.in_pipe(*arguments))

    def test_what_is_no_terminal_for_it_gets_what_a_pipe_gets(self):
        for term in ("dumb", ""):
            self.assertEqual(self.on_terminal(*MODEL, TERM=term), self.in_pipe(*MODEL))

    def test_NO_COLOR_leaves_bars_of_letters(self):
        shown = self.on_terminal(*MODEL, "--nodes", "4", NO_COLOR="1")
        self.assertNotIn("\x1b", shown)
        self.assertRegex(shown, r"\n +\|transfers +\|[a-z]*\|\n")

    def test_the_parts_of_runs_are_drawn(self):
        shown = self.on_terminal(*TRANSFORM, NO_COLOR="1")
        self.assertEqual(len(re.findall(r"^ {13}\|.*\|$", shown, re.MULTILINE)), 2)
        shown = self.on_terminal("nas-ft", "--class", "S", NO_COLOR="1")
        self.assertEqual(len(re.findall(r"^ {14}\|.*fft.*\|$", shown, re.MULTILINE)), 1)

    def test_what_has_failed_is_red(self):
        npy_files.write(self.folder / "f.npy", (2, 2, 2), "<f8", [float("nan")] * 8)
        line = [command.COMMAND, "fft", "--input", "f.npy", "--check"]
        status, shown, _ = self.start_on_terminal(line, streams=("stdout",))
        self.assertEqual(status, 1)
        self.assertIn("\x1b[1;31mFAILED\x1b[0m", shown)

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_the_output_of_a_launcher_is_plain(self):
        # Open MPI gives its processes terminals.
        result = self.start([command.MPIEXEC, "-n", "2", command.COMMAND, *TRANSFORM], environment={"TERM": "xterm"})
        self.assertEqual(result.status, 0, result.stderr)
        self.assertNotIn("\x1b", result.stdout)


class Progress(command.CommandTest):
    def steps(self, *arguments):
        """What a terminal on standard error shows, one after the other; at the end nothing is left there."""
        status, shown, _ = self.start_on_terminal([command.COMMAND, *arguments], streams=("stderr",))
        self.assertEqual(status, 0, shown)
        *steps, last = shown.split("\r\x1b[K")[1:]
        self.assertEqual(last, "")
        return [step for step in steps if step]

    def assert_counted(self, steps, name, first, count):
        """Each step from `first` to the last; from the second on with the time left."""
        told = [step for step in steps if re.match(name + r", \d+ of \d+\b", step)]
        self.assertEqual([int(re.search(r", (\d+) of ", step)[1]) for step in told], list(range(first, count + 1)))
        for i, step in enumerate(told):
            self.assertRegex(step, rf", \d+ of {count}" + (r", \d.* left \.\.\.$" if i else r" \.\.\.$"))

    def test_transforms(self):
        steps = self.steps(*TRANSFORM)
        self.assertIn("planning ...", steps)
        self.assert_counted(steps, "timing round trips", 1, 4)
        self.assertIn("planning by measuring, for about 0.5 s (--planning-seconds) ...",
                      self.steps(*TRANSFORM, "--planning", "measure", "--planning-seconds", "0.5", "--ranks", "2"))

    def test_the_NAS_benchmark(self):
        self.assert_counted(self.steps("nas-ft", "--class", "S"), "time step", 2, 6)

    def test_messages(self):
        for benchmark, name in (("latency", r"\d+ bytes"), ("exchange", r"\d+ bytes"),
                                ("bandwidth", r"\d+ bytes to 1 peers")):
            steps = self.steps("bench", benchmark, "--ranks", "2", "--sizes", "8:64", "--rounds", "2")
            self.assert_counted(steps, name, 1, 4)

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_packing(self):
        steps = self.steps("bench", "pack", "--filter", "NAS_LU_x_12$", "--rounds", "3")
        self.assert_counted(steps, "verifying NAS_LU_x_12", 1, 1)
        self.assert_counted(steps, "(hot|cold) (un)?pack NAS_LU_x_12", 1, 12)

    @unittest.skipUnless(command.HAS_GEMM, "a build without OpenBLAS")
    def test_multiplies(self):
        self.assert_counted(self.steps("gemm", "--size", "64", "--reps", "3"), "multiplying", 1, 3)
        steps = self.steps("bench", "gemm", "--n", "64", "--rounds", "2")
        self.assert_counted(steps, ".*", 1, 6)

    @unittest.skipIf(command.IS_SANITIZED, "a calibration takes minutes")
    def test_a_calibration(self):
        steps = self.steps("calibrate", "--quick", "-o", "machine.toml")
        self.assertEqual(steps[0], "bandwidth of memory ...")
        for step in steps[1:]:
            self.assertRegex(step, r", \d.* left \.\.\.$")

    def test_no_pipe_gets_it(self):
        result = self.run_alone(*TRANSFORM)
        self.assertEqual((result.status, result.stderr), (0, ""))
        status, shown, _ = self.start_on_terminal([command.COMMAND, *TRANSFORM], {"TERM": "dumb"}, ("stderr",))
        self.assertEqual((status, shown), (0, ""))


if __name__ == "__main__":
    unittest.main()
