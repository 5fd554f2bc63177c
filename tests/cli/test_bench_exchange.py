#!/usr/bin/env python3
"""penstock bench exchange: every way at every length, the table beside the JSON, and clear refusals."""

import json
import math
import unittest

import command

MPIS = {"MPI_Alltoall", "MPI_Ialltoall"}


class BenchExchange(command.CommandTest):
    def exchange(self, processes, *arguments):
        result = self.run_on(processes, "bench", "exchange", "--rounds", "3", "--json", "exchange.json", *arguments)
        self.assertEqual(result.status, 0, result.stderr)
        return json.loads((self.folder / "exchange.json").read_text()), result.stdout

    def check(self, facts, table, ways):
        found = {}
        for result in facts["results"]:
            found.setdefault(result["bytes"], set()).add(result["way"])
            self.assertLess(0, result["time_min_s"])
            self.assertLessEqual(result["time_min_s"], result["time_median_s"])
            self.assertLessEqual(result["time_median_s"], result["time_p99_s"])
            self.assertEqual(result["samples"], 3)
            self.assertIn(f"{result['time_median_s'] * 1e6:.3f}", table)
            self.assertEqual("overlap" in result, result["way"] != "MPI_Alltoall")
            if "overlap" in result:
                overlap = result["overlap"]
                longer = max(overlap["exchange_s"], overlap["computation_s"])
                self.assertAlmostEqual(overlap["total_over_longer"], overlap["total_s"] / longer)
        self.assertEqual(found, {4096: ways, 8192: ways})

    def test_ranks_that_are_threads(self):
        for arguments in ((), ("--polls", "0", "--progress-thread")):
            facts, table = self.exchange(1, "--ranks", "3", "--sizes", "4096:8192", *arguments)
            self.assertEqual((facts["transport"], facts["ranks"]), ("threads", 3))
            self.check(facts, table, {"exchange"})
            self.assertNotIn("geometric_mean_speedup", facts)

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_ranks_of_one_node_and_ranks_that_send_messages(self):
        for transport in ("shm", "mpi"):
            facts, table = self.exchange(2, "--transport", transport, "--sizes", "4096:8192")
            self.assertEqual(facts["transport"], transport)
            self.check(facts, table, MPIS | {"exchange"})
            logs = 0.0
            for speedup in facts["speedups"]:
                median = {r["way"]: r["time_median_s"] for r in facts["results"] if r["bytes"] == speedup["bytes"]}
                expected = min(median[way] for way in MPIS) / median["exchange"]
                self.assertAlmostEqual(speedup["over_faster_mpi"], expected)
                logs += math.log(expected)
            self.assertAlmostEqual(facts["geometric_mean_speedup"], math.exp(logs / 2))
            self.assertIn(f"geometric mean {facts['geometric_mean_speedup']:.2f}", table)

    def test_what_cannot_be_used_is_refused_in_one_line(self):
        for arguments, part in (
            ((), "one: use --ranks 2"),
            (("--ranks", "2", "--sizes", "0:8"), "--sizes 0"),
            (("--ranks", "2", "--rounds", "0"), "--rounds 0"),
            (("--ranks", "2", "--polls", "-1"), "--polls -1"),
        ):
            with self.subTest(arguments=arguments):
                result = self.run_alone("bench", "exchange", *arguments)
                self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)
                self.assertIn(part, result.lines[0])


if __name__ == "__main__":
    unittest.main()
