#!/usr/bin/env python3
"""The JSON of every subcommand is what schemas/ describes, no more and no less.

Each run below is validated. At the end each key that is described must have been in the JSON of some run.
"""

import json
import re
import unittest

import command
import npy_files
import schema
from command import MACHINE
from file_runs import STORAGE

SMALL = ("--rounds", "2", "--sizes", "8:16")
FAST_DISK = ("--machine", "machine.toml")
POINTS = "1:1,2:1.9,4:3.4,8:5.6,12:6.2"
FUGAKU = ("--machine", "fugaku", "--size", "256x256x256")
FRONTIER = ("--machine", "frontier")
HTMT = ("--machine", "htmt-2007", "--way", "htmt")
LINK = "network.link_bandwidth_bytes_per_s=1e9,2e9"


def sweeps(prefix, *arguments):
    """A run of a model for each sweep."""
    return [(*prefix, "--sweep", sweep) for sweep in arguments]


# For preloading: there in a build with MPI alone, and programs of the system take none with sanitizers.
HAS_LIBRARIES = bool(command.MPIEXEC) and not command.IS_SANITIZED

DEVICE_RUNS = [
    ("fft", "--device", "any", "--size", "8x6x4", "--reps", "1", "--check", "--layout", "as-input"),
    ("fft", "--device", "any", "--size", "8x6x4", "--reps", "1", "--ranks", "2", "--type", "r2c", "--fields-on", "host"),
]

DEVICE_PRODUCTS = [
    ("gemm", "--device", "any", "--size", "40,30,50", "--reps", "2", "--check", "--memory", "100KiB"),
    ("gemm", "--device", "any", "--size", "64", "--reps", "1", "--type", "float32", "--beta", "1"),
]

# By schema: the runs whose JSON it describes.
RUNS = {
    "fft": [
        ("fft", "--size", "8x6x4", "--reps", "2", "--check", "--filter-lowpass", "2", *FAST_DISK, "--explain"),
        ("fft", "--size", "8x6x4", "--type", "r2r", "--kinds", "redft10", "--reps", "1"),
        ("fft", "--size", "8x8x8", "--type", "r2c", "--ranks", "2", "--reps", "1", "--planning", "measure"),
        ("fft", "--size", "8x8x8", "--ranks", "2", "--layout", "as-input", "--along", "xy", "--reps", "1"),
        *(("fft", "--size", size, "--reps", "1", *FAST_DISK) for size in ("1x1x1", "1x1x8", "1x8x1", "2x1x1")),
    ],
    "fft-files": [
        ("fft", "--input", "complex.npy", "--output", "back.npy", "--backward"),
        ("fft", "--input", "complex.npy", "--output", "back.npy", "--backward"),
        ("fft", "--input", "point.npy", "--output", "point_back.npy", "--backward"),
        ("fft", "--input", "row.npy", "--output", "row_back.npy", "--backward"),
    ],
    **({"fft-device": DEVICE_RUNS} if command.has_device() else {}),
    "nas-ft": [("nas-ft", "--class", "S")],
    **({"try": [("try", "--", "echo", "one")]} if HAS_LIBRARIES else {}),
    "bench-bandwidth": [("bench", "bandwidth", "--ranks", "2", *SMALL, "--window", "2")],
    "bench-exchange": [("bench", "exchange", *SMALL)],
    "bench-latency": [("bench", "latency", "--rounds", "5", "--sizes", "8:4096", "--fit", "--ranks", "2")],
    "calibrate": [("calibrate", "--quick", "-o", "calibrated.toml", "--ranks", "2")],
    "model-fft": [
        ("model", "fft"),
        ("model", "fft", "--size", "1x1x1"),
        *sweeps(
            ("model", "fft", *FUGAKU, "--nodes", "16"),
            "nodes=16,48,4096", "nx=64", "ny=64", "nz=64", "ranks_per_node=1,2", "planes_per_message=1", "copies_per_exchange=2", LINK,
        ),
        *sweeps(("model", "fft", "--machine", "fugaku", "--nodes", "16"), "n=128"),
        ("model", "fft", *FUGAKU, "--nodes", "8", "--ranks-per-node", "4", "--grid", "5x6"),
        *sweeps(
            ("model", "fft", "--machine", "gpu-2020", "--nodes", "8", "--equations", "printed"),
            "nodes=8", "nx=64", "ny=64", "nz=64", "n=64", LINK,
        ),
        ("model", "fft", "--size", "1x1x1", "--equations", "printed"),
    ],
    "model-gemm": [
        *sweeps(("model", "gemm", *FRONTIER, "--nodes", "4"), "word_bytes=4,8", "budget_bytes=1e9,2e9", "n=1,1024", "node.cores=1,2"),
        *sweeps(
            ("model", "gemm", *FRONTIER, "--way", "out-of-core", "--memory", "1GiB"),
            "word_bytes=4,8", "budget_bytes=1e9,2e9", "n=1,1024", "node.cores=1,2",
        ),
        *sweeps(("model", "gemm", *HTMT), "q=1,2", "t=26", "b_c=125", LINK),
    ],
    "model-pingpong": [
        ("model", "pingpong", "--machine", "infiniband-ddr"),
        ("model", "pingpong", "--machine", "infiniband-ddr", "--set", "bytes=1000"),
        ("model", "pingpong", "--machine", "bluegene-p", "--sweep", "transports.one-sided.pieces.0.latency_s=1e-6,2e-6"),
    ],
    "model-plan": [
        ("model", "plan", "--size", "1x1x1"),
        *sweeps(
            ("model", "plan", *FUGAKU, "--nodes", "4"),
            "nodes=2,4", "nx=64", "ny=64", "nz=64", "ranks_per_node=1,2", "threads=1,2", "batch=1,2", "planes_per_message=0,1", "deferred_parts=0,1",
            LINK,
        ),
    ],
    "model-project": [
        ("model", "project"),
        *sweeps(("model", "project", "--machine", "hopper"), "year=2010,2020", "n=2,1000", LINK),
    ],
    "model-project-against": [("model", "project", "--machine", "cpu-2020", "--against", "gpu-2020")],
    "model-scaling": [
        *sweeps(
            ("model", "scaling", "--communication", "surface", "--kappa", "0.01"),
            "workers=1,2", "serial=0,0.5,1", "alpha=0,1", "kappa=0,1", "lambda=0,1", "beta=0,1",
        ),
        ("model", "scaling", "--communication", "blocking", "--kappa", "0.01"),
        ("model", "scaling", "--serial", "1", "--work", "parallel"),
    ],
    "model-scaling-fit": [
        ("model", "scaling", "--fit", POINTS),
        ("model", "scaling", "--fit", POINTS, "--communication", "blocking"),
        ("model", "scaling", "--fit", POINTS, "--communication", "surface"),
    ],
    "model-topology": [
        *sweeps(("model", "topology", "--machine", "bluegene-p"), "nodes=1,512", "bytes=1,2", LINK),
        *sweeps(("model", "topology", "--machine", "bluegene-p", "--nodes", "512", "--grid", "64x32"), "ranks_per_node=4"),
        ("model", "topology", "--machine", "frontier", "--nodes", "1"),
    ],
    "reproduce": [("reproduce", "all")],
}
COMPARED = tuple(f"{ranks}.json" for ranks in (1, 2, 4))
RUNS["compare"] = [("compare", *COMPARED), ("compare", *COMPARED[:2]), ("compare", "1.json", "other.json")]
if command.HAS_PAGES:
    RUNS["explore"] = [("explore", "--output", "page.html")]
if command.HAS_GEMM:
    RUNS |= {
        "gemm-ranks": [
            ("gemm", "--size", "20", "--ranks", "2", "--reps", "1", "--check"),
            ("gemm", "--size", "1", "--reps", "1", "--type", "complex64"),
        ],
        "gemm-files": [("gemm", *"--a m.npy --b m.npy --c c.npy".split(), *FAST_DISK)] * 2,
        **({"gemm-device": DEVICE_PRODUCTS} if command.has_device_blas() else {}),
        "bench-gemm": [("bench", "gemm", "--n", "32", "--rounds", "1")],
        "bench-gemm-files": [("bench", "gemm", "--n", "256", "--rounds", "1", "--memory", "256MiB")],
    }
if command.MPIEXEC:
    RUNS["bench-pack"] = [("bench", "pack", "--filter", "NAS_LU_x_(12|64)$", "--rounds", "1")]
# These are started on two processes where there is MPI, else on two threads.
OVER_MPI = ("bench-exchange",)
# Rows that a run has only where something was measured to be slow.
BY_CHANCE = "/slower/items/"
# Without MPI there is nothing to compare with.
OF_MPI = ("/speedups", "/geometric_mean_speedup", "/over_faster_mpi", "/speedups/items/properties/bytes")


class Schemas(command.CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "machine.toml").write_text(MACHINE.read_text() + STORAGE)
        npy_files.write(self.folder / "complex.npy", (4, 5, 6), "<c16", range(240))
        npy_files.write(self.folder / "point.npy", (1, 1, 1), "<c16", range(2))
        npy_files.write(self.folder / "row.npy", (1, 1, 8), "<c16", range(16))
        npy_files.write(self.folder / "m.npy", (8, 8), "<f8", range(64))
        for name, ranks, size in (*((each, int(each[0]), 8) for each in COMPARED), ("other.json", 1, 9)):
            result = {"schema": "gemm-ranks", "n": size, "ranks": ranks, "time_min_s": 0.1 + 0.9 / ranks}
            (self.folder / name).write_text(json.dumps(result))

    def facts_of(self, name, arguments):
        if "--" in arguments:  # what follows is another program's
            result = self.run_alone(arguments[0], "--json", "-", *arguments[1:])
        elif name not in OVER_MPI:
            result = self.run_alone(*arguments, "--json", "-")
        elif command.MPIEXEC:
            result = self.run_on(2, *arguments, "--json", "-")
        else:
            result = self.run_alone(*arguments, "--ranks", "2", "--json", "-")
        self.assertEqual(result.status, 0, result.stderr)
        return schema.read_strictly(result.stdout)

    def check(self, names):
        for name in names:
            described = schema.Schema(name)
            self.assertEqual(described.undescribed(), [], name)
            for arguments in RUNS[name]:
                with self.subTest(schema=name, arguments=arguments):
                    self.assertEqual(described.problems(self.facts_of(name, arguments)), [])
            with self.subTest(schema=name):
                unused = [place for place in described.unused() if BY_CHANCE not in place]
                unused = [place for place in unused if command.MPIEXEC or not place.endswith(OF_MPI)]
                self.assertEqual(unused, [], "described, and in the JSON of no run")

    def test_models(self):
        self.check([name for name in RUNS if name.startswith("model")] + ["reproduce"])

    def test_runs(self):
        self.check([name for name in RUNS if not name.startswith(("model", "reproduce"))])

    def test_every_schema_has_runs(self):
        without_runs = {path.stem for path in schema.FOLDER.glob("*.json")} - set(RUNS)
        self.assertEqual("try" in without_runs, not HAS_LIBRARIES)
        self.assertEqual("fft-device" in without_runs, not command.has_device())
        self.assertEqual("gemm-device" in without_runs, not (command.HAS_GEMM and command.has_device_blas()))
        without_runs -= {"fft-device", "gemm-device"}
        without_runs -= {"try"} if command.HAS_PAGES else {"try", "explore"}
        self.assertEqual(
            without_runs,
            set() if command.HAS_GEMM and command.MPIEXEC else without_runs & {"gemm-ranks", "gemm-files", "bench-gemm", "bench-gemm-files", "bench-pack"},
        )

    def test_no_table_has_a_number_that_is_none(self):
        for name in ("fft", "fft-files", "model-fft", "model-plan", "model-gemm", "model-scaling", "model-topology", "model-project"):
            for arguments in RUNS[name]:
                with self.subTest(arguments=arguments):
                    result = self.run_alone(*arguments)
                    self.assertEqual(result.status, 0, result.stderr)
                    self.assertIsNone(re.search(r"\b(nan|inf)\b", result.stdout), result.stdout)


if __name__ == "__main__":
    unittest.main()
