#!/usr/bin/env python3
"""Without arguments the command says what to begin with; a name that is mistyped brings the one that is near."""

import os
import re
import shlex
import unittest

import command


class FirstSteps(command.CommandTest):
    def test_without_arguments_it_tells_what_to_begin_with(self):
        for processes in command.process_counts():
            result = self.run_on(processes)
            self.assertEqual((result.status, result.stdout), (2, ""))
            self.assertEqual(result.lines, ["penstock: no subcommand is given"])
            guide = result.stderr[: result.stderr.index("penstock: no subcommand")]
            self.assertEqual(guide.count("To begin with"), 1)
            self.assertLessEqual(len(guide.splitlines()), 20)
            self.assertIn(f"{len(os.sched_getaffinity(0))} processor", guide)

    def test_what_it_tells_to_begin_with_runs(self):
        commands = re.findall(rf"^  ({re.escape(command.COMMAND)} .*)$", self.run_alone().stderr, re.MULTILINE)
        self.assertEqual(len(commands), 3 + command.HAS_PAGES)
        for line in commands:
            with self.subTest(line):
                # Of the smallest size: a transform under a sanitizer takes long.
                small = re.sub(r"(fft --size) \d+x\d+x\d+", r"\1 16x16x16", line)
                result = self.start(shlex.split(small))
                self.assertEqual((result.status, result.stderr), (0, ""))
        self.assertEqual(self.left_behind(), ["penstock-explore.html"] * command.HAS_PAGES)


class Refusals(command.CommandTest):
    def assert_told(self, arguments, message):
        for processes in command.process_counts()[:2]:
            result = self.run_on(processes, *arguments)
            self.assertEqual((result.status, result.stdout, result.lines), (2, "", [f"penstock: {message}"]))

    def test_a_mistyped_subcommand_brings_the_near_one(self):
        self.assert_told(("ftt",), "penstock has no subcommand 'ftt': did you mean fft? (see penstock --help)")
        self.assert_told(("bench", "lat"),
                         "penstock bench has no subcommand 'lat': did you mean latency? (see penstock bench --help)")
        self.assert_told(("modle", "fft"), "penstock has no subcommand 'modle': did you mean model? (see penstock --help)")

    def test_a_mistyped_option_brings_the_near_one_of_its_subcommand(self):
        for written in (("--siez", "8x8x8"), ("--siez=8x8x8",), ("--reps", "1", "--sze", "8x8x8")):
            name = next(part for part in written if part.startswith("--s")).split("=")[0]
            self.assert_told(("fft", *written),
                             f"penstock fft has no option '{name}': did you mean --size? (see penstock fft --help)")
        self.assert_told(("model", "fft", "--sweeep", "nodes=1,2"),
                         "penstock model fft has no option '--sweeep': did you mean --sweep? "
                         "(see penstock model fft --help)")

    def test_what_is_near_nothing_is_named_alone(self):
        self.assert_told(("frobnicate",), "penstock has no subcommand 'frobnicate' (see penstock --help)")
        self.assert_told(("fft", "--frobnicate"), "penstock fft has no option '--frobnicate' (see penstock fft --help)")
        self.assert_told(("fft", "stray"), "penstock fft takes no argument 'stray' (see penstock fft --help)")

    def test_a_missing_subcommand_brings_those_that_there_are(self):
        result = self.run_alone("model")
        self.assertEqual(result.status, 2)
        self.assertEqual(result.lines, ["penstock: penstock model wants one of fft, gemm, pingpong, plan, project, scaling, "
                                        "topology (see penstock model --help)"])


if __name__ == "__main__":
    unittest.main()
