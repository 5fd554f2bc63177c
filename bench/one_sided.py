#!/usr/bin/env python3
"""One-sided messages beside MPI's and beside what the machine allows: the ratios of `penstock bench`, over several runs.

    bench/one_sided.py node BUILD_FOLDER [MPIEXEC]       ranks of this node: latency, floods of puts, exchanges
    bench/one_sided.py network BUILD_FOLDER [MPIEXEC]    over wires of tests/cluster (as root): floods, exchanges, overlap

Each line is a ratio that is better the larger it is, in each of RUNS runs and their median. MPIEXEC is the launcher of the
MPI that the build is for (mpirun.openmpi). Wants a quiet machine.
"""

import json
import pathlib
import statistics
import sys
import tempfile

import runs as started

RUNS = 5
MIDDLE = "512:65536"
BLOCKS = "1024:1048576"


class Bench:
    """Runs `penstock bench` of a build, on ranks of this node or over wires."""

    def __init__(self, build, mpiexec):
        self.build, self.mpiexec = build, mpiexec

    def run(self, ranks, arguments, wires=None):
        with tempfile.NamedTemporaryFile(suffix=".json") as result:
            command = [self.build / "penstock", "bench", *arguments, "--json", result.name]
            if wires is None:
                started.run(started.on_node(ranks, command, self.mpiexec))
            else:
                started.run(started.over_wires(self.build, ranks, [*wires, "--mpiexec", self.mpiexec], command))
            return json.loads(pathlib.Path(result.name).read_text())


def told(name, asked, runs):
    """One line: the median, and each run."""
    print(f"{name:48} {asked:>10} {statistics.median(runs):6.2f}   " + " ".join(f"{run:.2f}" for run in runs), flush=True)


def ratios(facts, key, other):
    """By length: the rate `key` of puts over that of the other way, to one peer."""
    found = {}
    for result in facts["results"]:
        if result["peers"] == 1:
            found.setdefault(result["bytes"], {})[result["way"]] = result[key]
    return {size: of["put"] / of[other] for size, of in found.items()}


def by_length(name, asked, runs):
    for size in runs[0]:
        told(f"{name}, {size} bytes", asked, [run[size] for run in runs])


def latency(bench):
    runs = [bench.run(2, ["latency", "--sizes", "8:8", "--rounds", "2000"]) for _ in range(RUNS)]
    for key, word in (("time_min_s", "minima"), ("time_median_s", "medians")):
        times = [{result["way"]: result[key] for result in run["results"]} for run in runs]
        told(f"copy and flag over put_signal, 8 bytes, {word}", "0.67", [time["copy and flag"] / time["put_signal"] for time in times])
        told(f"MPI send/receive over put_signal, {word}", "3", [time["MPI send/receive"] / time["put_signal"] for time in times])
    told("active message, round trip, us", "", [time["active message"] * 1e6 for time in times])


def floods(bench, sizes, other, asked, transport="auto", wires=None):
    runs = [bench.run(2, ["bandwidth", "--sizes", sizes, "--transport", transport], wires) for _ in range(RUNS)]
    for key, word in (("bytes_per_s", "best"), ("median_bytes_per_s", "median")):
        by_length(f"puts over {other}, {transport}, {word}", asked, [ratios(run, key, other) for run in runs])


def exchanges(bench, ranks, wires=None):
    runs = [bench.run(ranks, ["exchange", "--sizes", BLOCKS], wires) for _ in range(RUNS)]
    name = f"MPI over exchange, {ranks} ranks"
    by_length(name, "1", [{speedup["bytes"]: speedup["over_faster_mpi"] for speedup in run["speedups"]} for run in runs])
    told(f"{name}, geometric mean", "" if wires else "1.5", [run["geometric_mean_speedup"] for run in runs])


def overlap(bench, ranks, wires):
    runs = [bench.run(ranks, ["exchange", "--sizes", BLOCKS, "--polls", "20"], wires) for _ in range(RUNS)]
    for way in ("exchange", "MPI_Ialltoall"):
        longer = [{result["bytes"]: 1 / result["overlap"]["total_over_longer"] for result in run["results"] if result["way"] == way}
                  for run in runs]
        by_length(f"longer over total, {way}, {ranks} ranks", "0.87", longer)


def node(bench):
    latency(bench)
    for size in (8192, 131072, 4194304):
        floods(bench, f"{size}:{size}", "copy", "0.9")
    floods(bench, MIDDLE, "MPI_Isend", "3")
    for ranks in (2, 4):
        exchanges(bench, ranks)


def network(bench):
    gigabit = ["--rate", "1Gbit", "--delay", "30us", "--priority"]
    for transport in ("ucx", "mpi"):
        floods(bench, MIDDLE, "MPI_Isend", "1", transport, gigabit)
    exchanges(bench, 2, gigabit)
    overlap(bench, 2, ["--rate", "100Mbit", "--delay", "30us", "--priority"])


def main():
    parts = {"node": node, "network": network}
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in parts:
        sys.exit(__doc__)
    bench = Bench(pathlib.Path(sys.argv[2]).resolve(), sys.argv[3] if len(sys.argv) == 4 else started.LAUNCHER)
    print(f"{'ratio':48} {'at least':>10} {'median':>6}   each run")
    parts[sys.argv[1]](bench)


if __name__ == "__main__":
    main()
