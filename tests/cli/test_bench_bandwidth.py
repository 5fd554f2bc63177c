#!/usr/bin/env python3
"""penstock bench bandwidth: every way to one peer and to all, the table beside the JSON, and clear refusals."""

import json
import unittest

import command


class BenchBandwidth(command.CommandTest):
    def bandwidth(self, processes, *arguments):
        result = self.run_on(
            processes, "bench", "bandwidth", "--rounds", "2", "--window", "5", "--json", "bandwidth.json", *arguments
        )
        self.assertEqual(result.status, 0, result.stderr)
        return json.loads((self.folder / "bandwidth.json").read_text()), result.stdout

    def check(self, facts, table, expected):
        found = []
        for result in facts["results"]:
            found.append((result["bytes"], result["peers"], result["way"]))
            self.assertEqual(result["window"], 5)
            self.assertGreaterEqual(result["bytes_per_s"], result["median_bytes_per_s"])
            self.assertGreater(result["median_bytes_per_s"], 0)
            self.assertIn(f"{result['bytes_per_s'] / 1e9:.3f}", table)
        self.assertEqual(sorted(found), sorted(expected))

    def test_ranks_that_are_threads(self):
        facts, table = self.bandwidth(1, "--ranks", "3", "--sizes", "4096:8192")
        self.assertEqual(facts["transport"], "threads")
        self.check(
            facts, table, [(size, peers, way) for size in (4096, 8192) for peers in (1, 2) for way in ("copy", "put")]
        )

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_ranks_that_send_messages(self):
        facts, table = self.bandwidth(2, "--transport", "mpi", "--sizes", "4096:8192")
        self.check(facts, table, [(size, 1, way) for size in (4096, 8192) for way in ("put", "MPI_Isend")])

    def test_what_cannot_be_used_is_refused_in_one_line(self):
        for arguments, part in (
            ((), "one: use --ranks 2"),
            (("--ranks", "2", "--sizes", "8:4"), "--sizes 4"),
            (("--ranks", "2", "--window", "0"), "--window 0"),
            (("--ranks", "2", "--rounds", "x"), "--rounds x"),
        ):
            with self.subTest(arguments=arguments):
                result = self.run_alone("bench", "bandwidth", *arguments)
                self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)
                self.assertIn(part, result.lines[0])


if __name__ == "__main__":
    unittest.main()
