#!/usr/bin/env python3
"""--trace: timelines in the Trace Event Format, of every subcommand whose ranks communicate, over every transport."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import command

# On a machine that need not be measured, and without wisdom of other runs.
FIELD = ("fft", "--no-wisdom", *command.KNOWN_MACHINE, "--size")
FFT = (*FIELD, "32x32x32", "--threads", "1", "--reps", "3")
CATEGORIES = {"transform", "multiply", "work", "move", "send", "wait", "collective", "storage", "step"}
HAS_GEMM = os.environ.get("PENSTOCK_HAS_GEMM", "0") == "1"


def events_of(trace, **wanted):
    """The complete events that have what is wanted."""
    return [
        event
        for event in trace["traceEvents"]
        if event["ph"] == "X" and all(event.get(key) == value for key, value in wanted.items())
    ]


def ns(time_us):
    return round(time_us * 1000)


def waits_for(trace, rank, peer):
    return [
        event["dur"] * 1e-6
        for event in events_of(trace, pid=rank)
        if event["cat"] in ("wait", "collective") and event["args"].get("peer") == peer
    ]


class Trace(command.CommandTest):
    def read(self, result, name="trace.json"):
        self.assertEqual(result.status, 0, result.stderr)
        return json.loads((self.folder / name).read_text())

    def check_format(self, trace, ranks):
        """What viewers need, and that events of one row lie within one another or side by side."""
        self.assertEqual(trace["penstock"]["ranks"], ranks)
        self.assertEqual(trace["penstock"]["dropped"], 0)
        self.assertEqual(trace["penstock"]["clock_offsets_s"], [[0, 0]] * ranks)
        names = {}
        rows = {}
        for event in trace["traceEvents"]:
            self.assertIn(event["ph"], "XMsf")
            self.assertIn(event["pid"], range(ranks))
            if event["ph"] == "M":
                names.setdefault(event["name"], []).append(event["args"])
                continue
            self.assertGreaterEqual(event["ts"], 0)
            if event["ph"] == "X":
                self.assertIn(event["cat"], CATEGORIES)
                self.assertGreaterEqual(event["dur"], 0)
                self.assertIn(event["args"].get("peer", 0), range(ranks))
                rows.setdefault((event["pid"], event["tid"]), []).append(event)
        hosts = [args["name"] for args in names["process_name"]]
        self.assertEqual(hosts, [f"rank {rank} ({os.uname().nodename})" for rank in range(ranks)])
        self.assertEqual({pid for pid, _ in rows}, set(range(ranks)))
        for row in rows.values():
            open_ends = []
            for event in row:
                begin, end = ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])
                while open_ends and open_ends[-1] <= begin:
                    open_ends.pop()
                if open_ends:
                    self.assertLessEqual(end, open_ends[-1], event)
                open_ends.append(end)
        arrows = {}
        for event in trace["traceEvents"]:
            if event["ph"] in "sf":
                arrows.setdefault(event["id"], {})[event["ph"]] = event
        for arrow in arrows.values():
            self.assertLessEqual(arrow["s"]["ts"], arrow["f"]["ts"])
        return arrows

    def check_fft(self, trace, figures, ranks):
        """All repetitions are there, and the transforms of the best one last as long as the results say."""
        arrows = self.check_format(trace, ranks)
        for rank in range(ranks):
            steps = [event["name"] for event in events_of(trace, pid=rank, cat="step")]
            self.assertEqual(steps, [f"{way} {i}" for i in (1, 2, 3) for way in ("forward", "backward")])
            sent = [event for event in events_of(trace, pid=rank, cat="send") if "bytes" in event["args"]]
            self.assertEqual({event["args"]["peer"] for event in sent} - {rank}, set(range(ranks)) - {rank})
        for name in "xyz":
            self.assertTrue(events_of(trace, name=f"transform {name}", cat="transform"))
        if ranks > 1:
            self.assertTrue(any(arrow["s"]["pid"] != arrow["f"]["pid"] for arrow in arrows.values()))
        wanted = sum(stage["transform_s"] for stage in figures["forward_stages"])
        found = []
        for i in (1, 2, 3):
            total_us = 0
            for step in events_of(trace, name=f"forward {i}"):
                end = step["ts"] + step["dur"]
                for event in events_of(trace, pid=step["pid"], cat="transform"):
                    total_us += event["dur"] if step["ts"] <= event["ts"] < end else 0
            found.append(total_us * 1e-6 / ranks)
        # Times are rounded to nanoseconds.
        self.assertTrue(any(abs(each - wanted) < 1e-5 + 1e-3 * wanted for each in found), (found, wanted))

    def test_ranks_that_are_threads(self):
        for ranks in (1, 2, 3):
            with self.subTest(ranks=ranks):
                line = (*FFT, "--ranks", str(ranks), "--trace", "trace.json", "--json", "out.json")
                trace = self.read(self.run_alone(*line))
                self.assertEqual(trace["penstock"]["arguments"], list(line))
                self.check_fft(trace, json.loads((self.folder / "out.json").read_text()), ranks)

    @unittest.skipUnless(command.MPIEXEC, "needs MPI")
    def test_ranks_that_are_processes(self):
        for transport in command.TRANSPORTS:
            for ranks in (2, 3):
                with self.subTest(transport=transport, ranks=ranks):
                    line = (*FFT, "--transport", transport, "--trace", "trace.json", "--json", "out.json")
                    trace = self.read(self.run_on(ranks, *line))
                    self.check_fft(trace, json.loads((self.folder / "out.json").read_text()), ranks)

    def test_every_thread_has_a_row(self):
        trace = self.read(self.run_alone(*FIELD, "32x32x32", "--threads", "3", "--ranks", "2", "--trace", "trace.json"))
        self.check_format(trace, 2)
        for rank in range(2):
            rows = {event["tid"] for event in events_of(trace, pid=rank, cat="transform")}
            self.assertTrue(rows <= {1, 2, 3} and rows, rows)

    def test_the_table_tells_of_the_file_and_nothing_is_written_unasked(self):
        result = self.run_alone(*FFT, "--trace", "trace.json")
        events = len(events_of(self.read(result)))
        self.assertIn(f"Trace       {events} events in trace.json\n", result.stdout)
        self.assertEqual(self.left_behind(), ["trace.json"])
        (self.folder / "trace.json").unlink()
        self.assertNotIn("Trace", self.run_alone(*FFT).stdout)
        self.assertEqual(self.left_behind(), [])

    def test_other_subcommands(self):
        lines = [
            ("nas-ft", "--class", "S"),
            ("bench", "exchange", "--sizes", "1024", "--rounds", "3"),
            ("bench", "latency", "--sizes", "8", "--rounds", "3"),
            ("bench", "bandwidth", "--sizes", "1024", "--rounds", "3"),
        ]
        if HAS_GEMM:
            lines += [("gemm", "--size", "96,80,64", "--algorithm", name) for name in ("cannon", "stationary")]
            lines += [("gemm", "--size", "96,80,64")]
        for line in lines:
            with self.subTest(line=line):
                trace = self.read(self.run_alone(*line, "--ranks", "2", "--threads", "1", "--trace", "trace.json"))
                trace["penstock"]["dropped"] = 0  # benchmarks repeat until they know enough
                self.check_format(trace, 2)
                self.assertTrue(events_of(trace, cat="collective"))
                if line[0] == "gemm":
                    steps = [event["name"] for event in events_of(trace, pid=0, cat="step")]
                    self.assertEqual(steps, ["multiply 1", "multiply 2", "multiply 3"])
                    self.assertTrue(events_of(trace, pid=1, cat="multiply"))

    @unittest.skipUnless(command.MPIEXEC, "needs MPI")
    def test_a_rank_that_is_late_is_named_by_the_one_that_waited(self):
        stopped_s = 1
        line = (*FIELD, "64x64x64", "--threads", "1", "--reps", "600", "--trace", "trace.json")
        run = subprocess.Popen(
            [command.MPIEXEC, "-n", "2", command.COMMAND, *line],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        with run:
            self.wait_for_plan(run)
            late = self.process_of_rank(1)
            time.sleep(0.2)
            os.kill(late, signal.SIGSTOP)
            time.sleep(stopped_s)
            os.kill(late, signal.SIGCONT)
            run.stdout.read()
            self.assertEqual(run.wait(timeout=command.TIME_LIMIT_S), 0)
        trace = json.loads((self.folder / "trace.json").read_text())
        self.assertGreater(max(waits_for(trace, 0, 1)), stopped_s / 2)
        # Where the signal met it in a wait of its own, that one lasted as long.
        long = [waited_s for waited_s in waits_for(trace, 1, 0) if waited_s > stopped_s / 2]
        self.assertLessEqual(len(long), 1)

    def wait_for_plan(self, run):
        """Until the run has printed its plan, before the field is made and transformed."""
        for text in run.stdout:
            if text.startswith("Plan"):
                return

    def process_of_rank(self, rank):
        """The process of this test's command that is that rank, by the environment that its launcher gave it."""
        variables = {f"{name}={rank}" for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK")}
        for folder in pathlib.Path("/proc").iterdir():
            try:
                if pathlib.Path(os.readlink(folder / "cwd")) != self.folder.resolve():
                    continue
                words = (folder / "environ").read_text().split("\0")
                name = (folder / "cmdline").read_text().split("\0")[0]
            except (OSError, UnicodeDecodeError):
                continue
            if name == command.COMMAND and variables & set(words):
                return int(folder.name)
        self.fail("no such rank runs")

    def test_runs_that_fail_or_are_interrupted_leave_no_file(self):
        result = self.run_alone(*FFT, "--trace", "nowhere/trace.json")
        self.assertEqual(result.status, 2)
        self.assertIn("--trace nowhere/trace.json", result.stderr)
        result = self.run_alone(*FFT, "--trace", "same.json", "--json", "same.json")
        self.assertEqual((result.status, len(result.lines)), (2, 1))
        self.assertIn("two results go to same.json", result.stderr)
        result = self.run_alone(*FFT, "--output", "nowhere/out.npy", "--trace", "trace.json")
        self.assertEqual(result.status, 2)
        run = subprocess.Popen(
            [command.COMMAND, *FIELD, "32x32x32", "--reps", "1000000", "--trace", "trace.json"],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        with run:
            self.wait_for_plan(run)
            run.send_signal(signal.SIGTERM)
            run.stdout.read()
            self.assertNotEqual(run.wait(timeout=command.TIME_LIMIT_S), 0)
        self.assertEqual(self.left_behind(), [])


if __name__ == "__main__":
    unittest.main()
