#!/usr/bin/env python3
"""Is the time that `penstock gemm` predicts before it multiplies the time that it takes?

    bench/gemm_predictions.py ranks BUILD_FOLDER    times matrices on ranks, in memory
    bench/gemm_predictions.py files BUILD_FOLDER    times matrices in files, which it makes in the folder where it is run
    bench/gemm_predictions.py report                prints the table of both, and the median and worst error

Each prediction is the one that the command prints before the work begins, from what it has measured of the machine in that
moment; the model has no figure that was fitted to a run below. Each call is a round over its configurations and adds to
bench/validation/gemm_runs.json, of which no run is left out; to measure anew, remove it. The table has the shortest time of
each configuration and the median of its predictions. Files are out of the system's cache when a run begins. A round takes a
minute or two, two cores of a quiet machine, and for files 3 GB of disk.
"""

import array
import json
import os
import pathlib
import random
import statistics
import struct
import sys
import tempfile

from runs import on_node, run

DATA = pathlib.Path(__file__).resolve().parent / "validation/gemm_runs.json"
# m,n,k; type; ranks and how they are started; threads of each; what is asked for besides
RANKS = (
    ("1024,1024,1024", "float64", "1 thread", 1, ()),
    ("2048,2048,2048", "float64", "1 thread", 1, ()),
    ("1024,1024,1024", "float64", "1 thread", 2, ()),
    ("4096,4096,4096", "float64", "1 thread", 2, ()),
    ("4096,4096,4096", "float32", "1 thread", 2, ()),
    ("1024,1024,1024", "float64", "2 processes", 1, ()),
    ("2048,2048,2048", "float32", "2 processes", 1, ()),
    ("4096,4096,4096", "float64", "2 processes", 1, ()),
    ("1500,1700,3001", "complex128", "2 processes", 1, ()),
    ("2048,2048,2048", "float64", "4 processes", 1, ()),
    ("3001,1701,2503", "float64", "4 threads", 1, ()),
    ("4096,4096,4096", "float64", "4 threads", 1, ()),
    ("2048,2048,2048", "float64", "2 processes", 1, ("--algorithm", "cannon")),
    ("1024,1024,8192", "float64", "2 processes", 1, ("--algorithm", "layered", "--layers", "2,1,1")),
)
# n; memory
FILES = (
    (4096, "48MiB"),
    (4096, "64MiB"),
    (4096, "256MiB"),
    (6000, "96MiB"),
    (8192, "64MiB"),
    (8192, "128MiB"),
    (8192, "256MiB"),
)


def time_ranks(command):
    for size, kind, ranks, threads, asked in RANKS:
        count, started_as = ranks.split()
        line = [command, "gemm", "--size", size, "--type", kind, "--threads", threads, *asked, "--reps", "4", "--json", "-"]
        facts = json.loads(run([*line, "--ranks", count] if started_as.startswith("thread") else on_node(int(count), line)))
        what = f"{size.replace(',', ' x ')} {kind}, {ranks.replace('1 thread', '1 rank')} x {threads}"
        yield what + "".join(f" {word}" for word in asked), facts["predicted_s"], facts["time_min_s"]


def write_matrix(path, n):
    """n x n doubles, each row the one before it moved by one; no element is so small that it would be multiplied slower."""
    text = repr({"descr": "<f8", "fortran_order": False, "shape": (n, n)})
    text = (text + " " * (-(11 + len(text)) % 64) + "\n").encode("latin1")
    chance = random.Random(n)
    line = array.array("d", [chance.uniform(-1, 1) for _ in range(2 * n)])
    with path.open("wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text)
        for row in range(n):
            file.write(line[row : row + n].tobytes())


def drop_from_cache(path):
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def time_files(command):
    with tempfile.TemporaryDirectory(dir=".") as name:
        folder = pathlib.Path(name)
        for n in sorted({n for n, _ in FILES}):
            inputs = [folder / "a.npy", folder / "b.npy"]
            for path in inputs:
                write_matrix(path, n)
            for memory in [memory for edge, memory in FILES if edge == n]:
                for path in inputs:
                    drop_from_cache(path)
                result = folder / "c.npy"
                files = ["--a", inputs[0], "--b", inputs[1], "--c", result]
                facts = json.loads(run([command, "gemm", *files, "--memory", memory, "--json", "-"]))
                result.unlink()
                yield f"{n} x {n} x {n} float64, files, {memory}", facts["predicted_s"], facts["time_s"]


PARTS = {"ranks": time_ranks, "files": time_files}


def measure(part, command):
    runs = json.loads(DATA.read_text()) if DATA.exists() else {}
    for what, predicted_s, measured_s in PARTS[part](command):
        print(f"{what}: {predicted_s:.4g} s, {measured_s:.4g} s", file=sys.stderr)
        runs.setdefault(part, {}).setdefault(what, []).append({"predicted_s": predicted_s, "measured_s": measured_s})
        DATA.write_text(json.dumps(runs, indent=1) + "\n")


def table():
    """The lines of the table, and the errors: predicted over measured, less 1."""
    lines = ["| product | predicted | measured | error |", "|---|---|---|---|"]
    errors = []
    runs = json.loads(DATA.read_text())
    for part in PARTS:
        for what, rounds in runs.get(part, {}).items():
            predicted_s = statistics.median(one["predicted_s"] for one in rounds)
            measured_s = min(one["measured_s"] for one in rounds)
            errors.append(predicted_s / measured_s - 1)
            lines.append(f"| {what} | {predicted_s:.3g} s | {measured_s:.3g} s | {errors[-1]:+.0%} |")
    return lines, errors


def summary(errors):
    sizes = sorted(abs(error) for error in errors)
    return f"median {statistics.median(sizes):.0%}, worst {sizes[-1]:.0%}, of {len(sizes)}"


def report():
    lines, errors = table()
    print("\n".join([*lines, "", summary(errors)]))


if __name__ == "__main__":
    if sys.argv[1:] == ["report"]:
        report()
    elif len(sys.argv) == 3 and sys.argv[1] in PARTS:
        measure(sys.argv[1], pathlib.Path(sys.argv[2]).resolve() / "penstock")
        report()
    else:
        sys.exit(__doc__)
