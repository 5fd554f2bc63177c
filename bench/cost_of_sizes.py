#!/usr/bin/env python3
"""Does the time of a transform grow with its work alone, from fields in cache to fields that fill the memory?

Usage: bench/cost_of_sizes.py BUILD_FOLDER [--processes N] [--sizes 64,128,...] [--rounds N] [--isa SET]. Runs `penstock fft`
for each size, double complex, forward, in one process with a thread for each processor or in N processes; goes through all
sizes in each round, so that what else the machine does is shared by all, and keeps each one's best. Prints the time per
N log2 N, where N is the number of points, and beside it its ratio to the best of all sizes. Ends with 1 where that of a size
without a prime factor above 13 is more than 1.25; the others are told. A size that does not fit the memory is said to, and
left out.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys

LIMIT = 1.25
LARGEST_FACTOR = 13  # of the sizes that the limit is for
SIZES = (
    "64,72,77,80,88,91,96,104,112,120,125,128,143,144,160,169,176,180,192,200,208,216,224,240,243,256,264,288,320,343,352,"
    "384,416,432,448,480,512,576,640,704,768,67,97,127,181,211,257,383,509"
)
POINTS_PER_RUN = 2e8  # repetitions are as many as take a second or two, and at least 3


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--isa")
    parser.add_argument("--mpiexec", default="mpiexec")
    return parser.parse_args()


def best_time(options, n):
    """Seconds of one run's fastest repetition; None where the memory does not hold it."""
    line = [options.mpiexec, "-n", str(options.processes)] if options.processes > 1 else []
    line += [options.build / "penstock", "fft", "--size", f"{n}x{n}x{n}", "--json", "-"]
    line += ["--reps", str(max(3, min(200, int(POINTS_PER_RUN / n**3))))]
    line += ["--threads", "1"] * (options.processes > 1)
    line += ["--isa", options.isa] * (options.isa is not None)
    result = subprocess.run([str(word) for word in line], capture_output=True, text=True, check=False)
    if result.returncode == 2 and "memory" in result.stderr:
        return None
    if result.returncode != 0:
        sys.exit(f"cost_of_sizes.py: {' '.join(map(str, line))}: {result.stderr.strip()}")
    return json.loads(result.stdout)["forward_min_s"]


def is_smooth(n):
    for factor in range(2, LARGEST_FACTOR + 1):
        while n % factor == 0:
            n //= factor
    return n == 1


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
    worst = max((cost for n, cost in costs.items() if is_smooth(n)), default=least)
    print(f"\nthe most of factors up to {LARGEST_FACTOR}: {worst / least:.2f} (asked: {LIMIT})")
    return 1 if worst > LIMIT * least else 0


if __name__ == "__main__":
    sys.exit(main())
