#!/usr/bin/env python3
"""Does the planner choose well without measuring?

    bench/planner_choices.py calibrate BUILD_FOLDER            this machine: bench/planner/machine.toml
    bench/planner_choices.py measure BUILD_FOLDER [NUMBER...]  the configurations below, or some: bench/planner/choices.json
    bench/planner_choices.py report                            prints the tables

`measure` has `penstock fft --planning measure` time every tuning that the planner looks at, in rounds, and beside them
what it takes by itself (auto) and MPI's own ways. The choice is that of auto in the first round; each way's time is its
best of all rounds. What messages reach over the cluster (tests/cluster, as root) each run measures itself: the machine file
is of the node alone.
"""

import json
import os
import pathlib
import shlex
import statistics
import sys
import tempfile

import runs
from runs import launchers
import nodes as cluster_nodes  # noqa: E402  # of tests/cluster, as runs says

DATA = runs.SOURCE / "bench/planner"

ROUNDS = 3
MPI_WAYS = ("mpi-packed", "mpi-slabs", "mpi-ialltoall")
# size, ranks, transport; on the cluster a rank a node, and the rate of its wires
CONFIGURATIONS = (
    ("64x64x64", 2, "threads", None),
    ("256x256x256", 2, "threads", None),
    ("128x128x128", 4, "threads", None),
    ("240x200x192", 4, "threads", None),
    ("128x128x128", 2, "shm", None),
    ("240x200x192", 2, "shm", None),
    ("384x384x384", 2, "shm", None),
    ("192x192x192", 4, "shm", None),
    ("64x64x64", 2, "mpi", None),
    ("240x200x192", 2, "mpi", None),
    ("256x256x256", 2, "mpi", None),
    ("128x128x128", 4, "mpi", None),
    ("64x64x64", 2, "cluster", "1Gbit"),
    ("128x128x128", 2, "cluster", "1Gbit"),
    ("160x120x96", 2, "cluster", "1Gbit"),
    ("128x128x128", 2, "cluster", "10Gbit"),
    ("240x200x192", 2, "cluster", "10Gbit"),
    ("128x128x128", 4, "cluster", "1Gbit"),
    ("128x128x128", 4, "cluster", "10Gbit"),
    ("160x120x96", 4, "cluster", "10Gbit"),
)


def line_of(build, configuration, arguments):
    size, ranks, transport, rate = configuration
    command = [str(build / "penstock"), "fft", "--size", size, "--threads", "1", *arguments]
    if rate is not None:
        names = [f"node{i + 1}" for i in range(ranks)]
        return launchers.command_line("openmpi", runs.LAUNCHER, names, ranks, command)
    if transport == "threads":
        return [*command, "--transport", transport, "--ranks", str(ranks)]
    return runs.on_node(ranks, [*command, "--transport", transport])


def lines_of(build, configuration, folder):
    """What is run in one round, with the files that it writes."""
    machine = ["--machine", str(DATA / "machine.toml")]
    measured = ["--planning", "measure", "--planning-seconds", "60", "--reps", "2"]
    yield "measure", line_of(build, configuration, [*machine, *measured, "--json", str(folder / "measure.json")])
    ways = ("auto", *MPI_WAYS) if configuration[2] in ("mpi", "cluster") else ("auto",)
    for way in ways:
        how = machine if way == "auto" else ["--grid", f"1x{configuration[1]}"]
        arguments = [*how, "--algorithm", way, "--reps", "5", "--json", str(folder / f"{way}.json")]
        yield way, line_of(build, configuration, arguments)


def run_round(build, configuration, folder):
    size, ranks, transport, rate = configuration
    environment = {"XDG_CACHE_HOME": str(folder)}
    lines = dict(lines_of(build, configuration, folder))
    for wisdom in folder.glob("penstock/wisdom-*"):  # what an earlier round has chosen
        wisdom.unlink()
    if rate is None:
        for line in lines.values():
            runs.run(line, environment)
    else:
        script = " && ".join(shlex.join(line) for line in lines.values())
        wires = ["--rate", rate, "--delay", "50us", "--once"]
        runs.run(runs.over_wires(build, ranks, wires, ["sh", "-c", script]),
                 {**environment, **launchers.environment("openmpi", ranks, cluster_nodes.NETWORK)})
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in lines}


def way_of(result):
    """How many parts are deferred follows from what the network reaches, as each run measures it: that some are counts."""
    keys = ("grid", "planes_per_message")
    return {**{key: result[key] for key in keys}, "is_deferred": result["deferred_parts"] > 0}


def measure_one(build, configuration):
    size, ranks, transport, rate = configuration
    facts = {"size": size, "ranks": ranks, "transport": transport, "rate": rate, "ways": [], "others_s": {}}
    with tempfile.TemporaryDirectory() as folder:
        for round_number in range(ROUNDS):
            print(f"round {round_number + 1}: {configuration}", file=sys.stderr)
            results = run_round(build, configuration, pathlib.Path(folder))
            for candidate in results.pop("measure")["candidates"]:
                key = way_of(candidate)
                known = next((way for way in facts["ways"] if key.items() <= way.items()), None)
                if known is None:
                    known = {**key, "predicted_s": candidate["predicted_s"], "measured_s": candidate["measured_s"]}
                    facts["ways"].append(known)
                known["measured_s"] = min(known["measured_s"], candidate["measured_s"])
            auto = results["auto"]
            facts.setdefault("chosen", way_of(auto))
            for name, result in results.items():
                facts["others_s"][name] = min(facts["others_s"].get(name, 1e9), result["forward_min_s"])
    return facts


def measure(build, numbers):
    path = DATA / "choices.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    for number in numbers or range(1, len(CONFIGURATIONS) + 1):
        known[str(number)] = measure_one(build, CONFIGURATIONS[number - 1])
        path.write_text(json.dumps(dict(sorted(known.items(), key=lambda item: int(item[0]))), indent=1) + "\n")


def report():
    known = json.loads((DATA / "choices.json").read_text())
    print("| | size | ranks | transport | ways | chosen | predicted | measured | error | best | chosen / best | auto / best of MPI's |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    ratios, errors, beside = [], [], []
    for number, facts in known.items():
        ways = facts["ways"]
        chosen = next(way for way in ways if facts["chosen"].items() <= way.items())
        best = min(ways, key=lambda way: way["measured_s"])
        ratios.append(chosen["measured_s"] / best["measured_s"])
        errors.append(chosen["predicted_s"] / chosen["measured_s"] - 1)
        others = facts["others_s"]
        if len(others) > 1:
            beside.append(others["auto"] / min(others[way] for way in MPI_WAYS))
        name = lambda way: f"{way['grid'][0]}x{way['grid'][1]}, {way['planes_per_message'] or 'all'}{', deferred' if way['is_deferred'] else ''}"
        where = facts["transport"] + (f" {facts['rate']}" if facts["rate"] else "")
        print(f"| {number} | {facts['size']} | {facts['ranks']} | {where} | {len(ways)} | {name(chosen)} | "
              f"{chosen['predicted_s'] * 1e3:.3g} ms | {chosen['measured_s'] * 1e3:.3g} ms | {errors[-1]:+.0%} | {name(best)} | "
              f"{ratios[-1]:.2f} | {f'{beside[-1]:.2f}' if len(others) > 1 else ''} |")
    sizes = [abs(error) for error in errors]
    print(f"\n{sum(ratio <= 1.1 for ratio in ratios)} of {len(ratios)} choices are within 10% of the best, the worst takes {max(ratios):.2f} "
          f"of its time; error of predictions: median {statistics.median(sizes):.0%}, worst {max(sizes):.0%}")
    if beside:
        print(f"auto beside the best of MPI's ways: {min(beside):.2f} to {max(beside):.2f} of its time")


def main():
    if sys.argv[1:] == ["report"]:
        report()
    elif len(sys.argv) == 3 and sys.argv[1] == "calibrate":
        DATA.mkdir(exist_ok=True)
        runs.run(runs.on_node(2, [pathlib.Path(sys.argv[2]) / "penstock", "calibrate", "-o", DATA / "machine.toml"]))
    elif len(sys.argv) >= 3 and sys.argv[1] == "measure":
        measure(pathlib.Path(sys.argv[2]).resolve(), [int(number) for number in sys.argv[3:]])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
