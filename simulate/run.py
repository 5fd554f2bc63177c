#!/usr/bin/env python3
"""Runs the library's transform on simulated parts of BlueGene/P, a line a run.

    simulate/run.py all PROGRAM        every run that docs/simulation.md tells of, into simulate/results.json
    simulate/run.py compare PROGRAM    a small one beside the model, by two resolutions: fails where they are 15% apart
    simulate/run.py table              the tables of docs/simulation.md, from simulate/results.json

PROGRAM is penstock-simulate, of a build with PENSTOCK_SMPI.
"""

import json
import pathlib
import subprocess
import sys

RESULTS = pathlib.Path(__file__).with_name("results.json")
MOST_ERROR = 0.15  # of packed slabs
# Ranks and arguments. The cheap ones first.
RUNS = (
    *(("packed", ranks, ["--rehearse", "--size", "1024x512x512"]) for ranks in (64, 256, 1024)),
    ("packed", 4096, ["--rehearse", "--size", "1024x512x512", "--resolution", "1e-4"]),
    *(("slabs", ranks, ["--rehearse", "--size", "1024x1024x64", "--planes-per-message", "1"]) for ranks in (64, 256)),
    *(("verified", ranks, ["--size", "64x64x64"]) for ranks in (64, 256)),
    *(("verified", ranks, ["--size", "64x64x64", "--no-links"]) for ranks in (1024, 4096)),
)


def simulate(program, ranks, arguments):
    run = subprocess.run([program, "--ranks", str(ranks), *arguments], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{program} --ranks {ranks} {' '.join(arguments)}: {run.stdout}{run.stderr}")
    return json.loads(run.stdout)


def run_all(program):
    results = []
    for number, (kind, ranks, arguments) in enumerate(RUNS, 1):
        print(f"{number} of {len(RUNS)}: {kind}, {ranks} ranks ...", end=" ", flush=True)
        results.append({"kind": kind, **simulate(program, ranks, arguments)})
        print(f"{results[-1]['wall_s']:.0f} s", flush=True)
        RESULTS.write_text("[\n" + ",\n".join(f" {json.dumps(result)}" for result in results) + "\n]\n")


def compare(program):
    is_near = True
    for resolution in ("0", "1e-5"):
        result = simulate(program, 16, ["--rehearse", "--size", "128x64x64", "--resolution", resolution])
        error = result["simulated_s"] / result["model_s"] - 1
        print(f"resolution {resolution} s: simulated {result['simulated_s']:.6f} s, model {result['model_s']:.6f} s: {error:+.1%}")
        is_near = is_near and abs(error) <= MOST_ERROR
    sys.exit(0 if is_near else 1)


def table():
    results = json.loads(RESULTS.read_text())
    print("| ranks | grid | field | messages | resolution | simulated | model | less 1 | overlapped model | less 1 | took | memory |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for run in (run for run in results if run["kind"] != "verified"):
        size, grid = ("x".join(map(str, run[key])) for key in ("size", "grid"))
        print(f"| {run['ranks']} | {grid} | {size} | {run['kind']} | {run['resolution_s'] or 1e-9:g} s | {run['simulated_s']:.4g} s | {run['model_s']:.4g} s | "
              f"{run['simulated_s'] / run['model_s'] - 1:+.1%} | {run['model_overlapped_s']:.4g} s | "
              f"{run['simulated_s'] / run['model_overlapped_s'] - 1:+.1%} | {run['wall_s']:.0f} s | {run['peak_memory_bytes'] / 1e6:.0f} MB |")
    print("\n| ranks | grid | field | links | relative error | tolerance | took | memory |")
    print("|---|---|---|---|---|---|---|---|")
    for run in (run for run in results if run["kind"] == "verified"):
        size, grid = ("x".join(map(str, run[key])) for key in ("size", "grid"))
        shares = "no" if run["is_without_links"] else "yes"
        print(f"| {run['ranks']} | {grid} | {size} | {shares} | {run['relative_error']:.1e} | {run['tolerance']:.1e} | "
              f"{run['wall_s']:.0f} s | {run['peak_memory_bytes'] / 1e6:.0f} MB |")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["all", program]:
            run_all(program)
        case ["compare", program]:
            compare(program)
        case ["table"]:
            table()
        case _:
            sys.exit(__doc__)
