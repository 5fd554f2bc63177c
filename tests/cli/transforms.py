"""Every kind of transform that `penstock fft --check` is tried on, and how one is run."""

import itertools
import json
import random

import command

DIMENSIONS = {
    "size": ("64x64x64", "96x100x90", "37x41x43", "1x128x128", "5x3x2"),
    "ranks": (1, 2, 3, 4, 5, 6, 7, 8),
    "type": ("c2c", "r2c"),
    "precision": ("double", "single"),
    "algorithm": ("packed", "slabs", "3 planes, 5 deferred"),
    "transport": ("threads", *command.TRANSPORTS),
    "layout": ("transposed", "as-input"),
    "threads": (1, 2),
    "local": command.LOCAL_TRANSFORMS,
    "isa": command.INSTRUCTION_SETS,
    "movers": ("compiled", "ahead-of-time"),
}


def all_cases(dimensions=DIMENSIONS):
    return [dict(zip(dimensions, values)) for values in itertools.product(*dimensions.values())]


def covering_cases():
    """A subset of all cases in which every pair of values of two dimensions occurs, on those numbers of ranks that differ
    most."""
    dimensions = {**DIMENSIONS, "ranks": (1, 2, 3, 6, 8)}
    pairs = list(itertools.combinations(dimensions, 2))
    missing = {(a, x, b, y) for a, b in pairs for x in dimensions[a] for y in dimensions[b]}
    chosen = []
    cases = all_cases(dimensions)
    random.Random(2).shuffle(cases)  # among equally good ones, not always the first transport
    pairs_of = {id(case): {(a, case[a], b, case[b]) for a, b in pairs} for case in cases}
    while missing:
        best = max(cases, key=lambda case: len(missing & pairs_of[id(case)]))
        missing -= pairs_of[id(best)]
        chosen.append(best)
    return chosen


def find_mistake(test, case):
    """Runs one case; what is wrong with its result, or None."""
    arguments = ["fft", "--check", "--reps", "1", "--effort", "estimate", "--json", "-", *command.KNOWN_MACHINE]
    for name in ("size", "type", "precision", "transport", "layout", "threads", "local", "isa", "movers"):
        arguments += [f"--{name}", str(case[name])]
    if "deferred" in case["algorithm"]:
        arguments += ["--planes-per-message", "3", "--deferred-parts", "5"]
    else:
        arguments += ["--algorithm", case["algorithm"]]
    if case["transport"] == "threads":
        result = test.run_alone(*arguments, "--ranks", str(case["ranks"]))
    else:
        result = test.start([command.MPIEXEC, "-n", str(case["ranks"]), command.COMMAND, *arguments])
    if result.status != 0:
        return f"status {result.status}: {result.stderr}"
    report = json.loads(result.stdout)
    if not 0 <= report["relative_error"] <= report["tolerance"]:
        return f"relative error {report['relative_error']}, allowed {report['tolerance']}"
    if report["ranks"] != case["ranks"] or report["grid"][0] * report["grid"][1] != case["ranks"]:
        return f"{report['ranks']} ranks on the grid {report['grid']}"
    if report["transport"] != case["transport"]:
        return f"transport {report['transport']}"
    return None

