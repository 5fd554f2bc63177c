#!/usr/bin/env python3
"""Does the time of a transform grow with its work alone, from fields in cache to fields that fill the memory?

Usage: bench/cost_of_sizes.py BUILD_FOLDER [--processes N] [--sizes 64,128,...] [--rounds N]. Runs `penstock fft` for each
size, double complex, forward, in one process with a thread for each processor or in N processes; goes through all sizes in
each round, so that what else the machine does is shared by all, and keeps each one's best. Prints the time per N log2 N,
where N is the number of points, and beside it its ratio to the best of all sizes. Ends with 1 where one is more than 1.3.
A size that does not fit the memory is said to, and left out.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys

LIMIT = 1.3
SIZES = "64,80,96,128,160,192,256,320,384,512,640,768"
POINTS_PER_RUN = 2e8  # repetitions are as many as take a second or two, and at least 3


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mpiexec", default="mpiexec")
    return parser.parse_args()


def best_time(options, n):
    """Seconds of one run's fastest repetition; None where the memory does not hold it."""
    line = [options.mpiexec, "-n", str(options.processes)] if options.processes > 1 else []
    line += [options.build / "penstock", "fft", "--size", f"{n}x{n}x{n}", "--json", "-"]
    line += ["--reps", str(max(3, min(200, int(POINTS_PER_RUN / n**3))))]
    line += ["--threads", "1"] * (options.processes > 1)
    result = subprocess.run([str(word) for word in line], capture_output=True, text=True, check=False)
    if result.returncode == 2 and "memory" in result.stderr:
        return None
    if result.returncode != 0:
        sys.exit(f"cost_of_sizes.py: {' '.join(map(str, line))}: {result.stderr.strip()}")
    return json.loads(result.stdout)["forward_min_s"]


def main():
    options = arguments()
    best = {}
    for _ in range(options.rounds):
        for n in map(int, options.sizes.split(",")):
            if best.get(n, math.inf) is not None:
                time_s = best_time(options, n)
                best[n] = None if time_s is None else min(time_s, best.get(n, math.inf))
    costs = {n: time_s / (n**3 * math.log2(n**3)) for n, time_s in best.items() if time_s is not None}
    if not costs:
        sys.exit("cost_of_sizes.py: none of the sizes fits the memory")
    least = min(costs.values())
    print(f"{'size':>6} {'seconds':>10} {'ns per N log2 N':>16} {'beside the best':>16}")
    for n, time_s in best.items():
        if time_s is None:
            print(f"{n:>4}^3  does not fit the memory")
        else:
            print(f"{n:>4}^3 {time_s:>10.5f} {costs[n] * 1e9:>16.4f} {costs[n] / least:>16.2f}")
    return 1 if max(costs.values()) > LIMIT * least else 0


if __name__ == "__main__":
    sys.exit(main())
