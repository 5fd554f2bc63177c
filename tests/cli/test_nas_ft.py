#!/usr/bin/env python3
"""penstock nas-ft: checksums printed as the benchmark prints them, the same figures as JSON, and clear refusals."""

import json
import re
import unittest

import command

STEP = re.compile(r"^ T =( {4}\d)     Checksum =(.{22})(.{22})$", re.MULTILINE)


class NasFt(command.CommandTest):
    def test_the_table_and_the_json_have_the_same_checksums(self):
        for processes in command.process_counts():
            result = self.run_on(processes, "nas-ft", "--class", "S", "--threads", "1", "--json", "s.json")
            self.assertEqual(result.status, 0, result.stderr)
            self.assertIn("successful", result.stdout)
            facts = json.loads((self.folder / "s.json").read_text())
            printed = [[float(part.replace("D", "e")) for part in step[1:]] for step in STEP.findall(result.stdout)]
            self.assertEqual(len(printed), 6)
            for found, expected in zip(printed, facts["checksums"]):
                self.assertAlmostEqual(found[0], expected[0], delta=1e-9)
                self.assertAlmostEqual(found[1], expected[1], delta=1e-9)
            self.assertEqual((facts["class"], facts["size"], facts["ranks"]), ("S", [64, 64, 64], processes))
            self.assertTrue(facts["verified"])
            self.assertLessEqual(max(facts["errors"]), 1e-12)
            self.assertEqual(facts["largest_error"], max(facts["errors"]))
            self.assertLessEqual(sum(facts["breakdown"].values()), facts["time_s"] * 1.000001)
            self.assertAlmostEqual(facts["rate_mops"] * facts["time_s"], 177.167, places=2)

    def test_json_on_standard_output_is_all_there_is(self):
        result = self.run_alone("nas-ft", "--class", "S", "--ranks", "3", "--algorithm", "slabs", "--json", "-")
        facts = json.loads(result.stdout)
        self.assertEqual((facts["ranks"], facts["transport"], facts["algorithm"]), (3, "threads", "slabs"))
        self.assertTrue(facts["verified"])

    def test_what_cannot_be_used_is_refused_in_one_line(self):
        for arguments, parts in (
            ((), ("--class",)),
            (("--class", "X"), ("no class 'X'", "S, W, A, B, C, D, E or F")),
            (("--class", "s"), ("no class 's'",)),
            (("--class", "SW"), ("--class SW",)),
            (("--class", ""), ("--class",)),
            (("--class", "F"), ("wants", "TiB")),
            (("--class", "S", "--memory", "1MiB"), ("wants", "which has 1.00 MiB")),
            (("--class", "S", "--grid", "5x7"), ("5x7", "35 places")),
            (("--class", "S", "--algorithm", "fast"), ("--algorithm fast",)),
            (("--class", "S", "--json", "nowhere/s.json"), ("nowhere/s.json", "folder")),
            (("--class", "S", "--size", "8x8x8"), ("--size",)),
        ):
            for processes in command.process_counts():
                with self.subTest(arguments=arguments, processes=processes):
                    result = self.run_on(processes, "nas-ft", *arguments)
                    self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)
                    for part in parts:
                        self.assertIn(part, result.lines[0])
        self.assertEqual(self.left_behind(), [])


if __name__ == "__main__":
    unittest.main()
