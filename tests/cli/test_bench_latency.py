#!/usr/bin/env python3
"""penstock bench latency: every way at every length, the table beside the JSON, and clear refusals."""

import json
import unittest

import command

OURS = {"put_signal", "put_set", "get", "active message"}


class BenchLatency(command.CommandTest):
    def latency(self, processes, *arguments):
        result = self.run_on(processes, "bench", "latency", "--rounds", "2", "--json", "latency.json", *arguments)
        self.assertEqual(result.status, 0, result.stderr)
        return json.loads((self.folder / "latency.json").read_text()), result.stdout

    def check(self, facts, table, ways, of_words=frozenset({"fetch_add"})):
        found = {}
        for result in facts["results"]:
            found.setdefault(result["bytes"], set()).add(result["way"])
            self.assertLessEqual(0, result["time_min_s"])
            self.assertLessEqual(result["time_min_s"], result["time_median_s"])
            self.assertLessEqual(result["time_median_s"], result["time_p99_s"])
            self.assertEqual(result["samples"], 2)
            self.assertIn(f"{result['time_median_s'] * 1e6:.3f}", table)
        self.assertEqual(found, {4: ways, 8: ways | of_words, 16: ways})

    def test_ranks_that_are_threads(self):
        facts, table = self.latency(1, "--ranks", "2", "--sizes", "4:16")
        self.assertEqual(facts["transport"], "threads")
        self.check(facts, table, OURS | {"copy and flag"})

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_ranks_of_one_node_and_ranks_that_send_messages(self):
        mpis = {"MPI send/receive", "MPI put/flush"}
        facts, table = self.latency(2, "--transport", "shm", "--sizes", "4:16")
        self.check(facts, table, OURS | mpis | {"copy and flag"})
        facts, table = self.latency(2, "--transport", "mpi", "--sizes", "4:16")
        self.assertEqual(facts["transport"], "mpi")
        self.check(facts, table, OURS | mpis)
        if command.HAS_UCX:
            facts, table = self.latency(2, "--transport", "ucx", "--sizes", "4:16")
            self.check(facts, table, OURS | mpis | {"UCX message", "UCX put and flag"}, {"fetch_add", "UCX put"})

    def test_a_fit_has_a_latency_and_a_bandwidth(self):
        facts, table = self.latency(1, "--ranks", "2", "--sizes", "8:65536", "--fit")
        fits = {fit["way"]: fit for fit in facts["fits"]}
        self.assertIn("put_signal", fits)
        for fit in facts["fits"]:
            if fit["bandwidth_bytes_per_s"] is None:  # times that do not grow with the length, on a busy machine
                continue
            self.assertAlmostEqual(fit["half_bytes"], fit["latency_s"] * fit["bandwidth_bytes_per_s"], delta=1)
        self.assertIn("N1/2", table)

    def test_what_cannot_be_used_is_refused_in_one_line(self):
        for arguments, part in (
            ((), "one: use --ranks 2"),
            (("--ranks", "2", "--sizes", "0:8"), "--sizes 0"),
            (("--ranks", "2", "--sizes", "8:4"), "--sizes 4"),
            (("--ranks", "2", "--sizes", "many"), "--sizes many"),
            (("--ranks", "2", "--rounds", "0"), "--rounds 0"),
        ):
            with self.subTest(arguments=arguments):
                result = self.run_alone("bench", "latency", *arguments)
                self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)
                self.assertIn(part, result.lines[0])


if __name__ == "__main__":
    unittest.main()
