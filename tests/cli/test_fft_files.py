#!/usr/bin/env python3
"""`penstock fft` of fields that --memory does not hold: the result of a transform in memory, in passes over files; one
line for what cannot be, and runs that are killed go on where they were."""

import array
import ast
import json
import os
import random
import unittest

import command
import file_runs
import npy_files
import numpy

FILES = ["fft", "--input", "f.npy", "--output", "g.npy"]
SMALL = ["--memory", "44MiB", "--threads", "2"]
# 44 MB in double precision, most of which does not fit
SIZE = (131, 150, 140)


@command.needs_a_small_process
class FftFiles(file_runs.FileRunTest):
    # In memory where that can be: how long a disk takes to have written everything is nobody's to say.
    parent = "/dev/shm" if os.path.isdir("/dev/shm") else None

    def setUp(self):
        super().setUp()
        self.in_files = [*FILES, *SMALL, "--machine", str(self.machine)]

    def write_noise(self, name="f.npy", size=SIZE, code="d", components=2):
        """A file of complex numbers, or of real ones, larger than npy_files would write in good time."""
        nx, ny, nz = size
        chance = random.Random(name)
        line = array.array(code, [chance.uniform(-1, 1) for _ in range(components * (nx * ny + 7 * nz))])
        kind = "f" if components == 1 else "c"
        with (self.folder / name).open("wb") as file:
            file.write(npy_files.header((nz, ny, nx), f"<{kind}{line.itemsize * components}"))
            for z in range(nz):
                begin = 7 * components * z
                file.write(line[begin : begin + components * nx * ny].tobytes())

    def relative_error(self, name, reference, code="d"):
        return self.relative_error_of(*((self.folder / path).read_bytes() for path in (name, reference)), code)

    def relative_error_of(self, first, second, code="d"):
        headers = [ast.literal_eval(content[10:128].decode()) for content in (first, second)]
        self.assertEqual(*headers)
        a, b = (numpy.frombuffer(content, code, offset=128) for content in (first, second))
        return numpy.linalg.norm(a - b) / numpy.linalg.norm(b)

    def run_in_files(self, *arguments):
        result = self.run_alone(*self.in_files, *arguments, "--json", "-")
        self.assertEqual(result.status, 0, result.stderr)
        return json.loads(result.stdout)

    def test_the_result_is_that_of_memory(self):
        for code, size, tolerance in (("d", SIZE, 1e-15), ("f", (191, 160, 171), 1e-6)):
            self.write_noise(size=size, code=code)
            figures = self.run_in_files("--scaling", "symmetric")
            self.assertEqual(figures["way"], "files")
            self.assertGreater(figures["tiling"]["slabs"] * figures["tiling"]["columns"], 20)
            self.assertGreater(figures["predicted_s"], 0)
            field_bytes = (self.folder / "f.npy").stat().st_size - 128
            self.assertLess(figures["read_bytes"] + figures["written_bytes"], 4.3 * field_bytes)
            self.assertEqual(self.left_behind(), ["f.npy", "g.npy"])
            result = self.run_alone(
                *FILES[:-1], "memory.npy", "--scaling", "symmetric", "--reps", "1", "--effort", "estimate"
            )
            self.assertEqual(result.status, 0, result.stderr)
            self.assertLess(self.relative_error("g.npy", "memory.npy", code), tolerance)
            (self.folder / "memory.npy").unlink()
        # And back, from the spectrum.
        (self.folder / "g.npy").rename(self.folder / "spectrum.npy")
        self.in_files[self.in_files.index("f.npy")] = "spectrum.npy"
        self.assertEqual(self.run_in_files("--scaling", "symmetric", "--backward")["direction"], "backward")
        self.assertLess(self.relative_error("g.npy", "f.npy", "f"), 1e-6)

    def test_real_fields_go_there_and_back(self):
        size = (263, 150, 141)  # 44 MB
        for code, memory, tolerance in (("d", "44MiB", 1e-15), ("f", "34MiB", 1e-6)):
            self.write_noise(size=size, code=code, components=1)
            self.in_files[self.in_files.index("--memory") + 1] = memory
            figures = self.run_in_files()
            self.assertEqual((figures["way"], figures["type"], figures["size"]), ("files", "r2c", list(size)))
            result = self.run_alone(*FILES[:-1], "memory.npy", "--reps", "1", "--effort", "estimate")
            self.assertEqual(result.status, 0, result.stderr)
            self.assertLess(self.relative_error("g.npy", "memory.npy", code), tolerance)
            back = ["fft", "--input", "g.npy", "--output", "b.npy", *self.in_files[len(FILES) :]]
            back += ["--backward", "--type", "r2c", "--size", "x".join(map(str, size)), "--json", "-"]
            result = self.run_alone(*back)
            self.assertEqual(result.status, 0, result.stderr)
            figures = json.loads(result.stdout)
            self.assertEqual((figures["type"], figures["direction"]), ("r2c", "backward"))
            self.assertLess(self.relative_error("b.npy", "f.npy", code), tolerance)
            for name in ("g.npy", "b.npy", "memory.npy"):
                (self.folder / name).unlink()

    def test_scaling_is_undone_by_the_way_back(self):
        numbers = [float(i % 13) for i in range(2 * 5 * 4 * 3)]
        npy_files.write(self.folder / "f.npy", (3, 4, 5), "<c16", numbers)
        for scaling in ("none", "full"):
            there = self.run_alone(*FILES, "--scaling", scaling, "--reps", "1")
            self.assertEqual(there.status, 0, there.stderr)
            back = self.run_alone("fft", "--input", "g.npy", "--output", "b.npy", "--scaling", scaling, "--backward")
            self.assertEqual(back.status, 0, back.stderr)
            _, _, found = npy_files.read(self.folder / "b.npy")
            expected = [complex(*pair) for pair in zip(numbers[::2], numbers[1::2])]
            for a, b in zip(found, expected):
                self.assertAlmostEqual(abs(a - b), 0, delta=1e-12)

    def test_engines_give_the_same_and_traces_are_json(self):
        self.write_noise()
        contents = set()
        for engine in ("threads", "auto"):
            self.run_in_files("--engine", engine, "--trace", "trace.json")
            contents.add((self.folder / "g.npy").read_bytes())
            events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
            names = {event["name"] for event in events if event["ph"] == "X"}
            self.assertTrue({"slab 0", "slab 1: arrives", "column 0", "column 0: leaves"} <= names, names)
            begins = {event["name"]: event["ts"] for event in events if event["ph"] == "X"}
            self.assertLess(begins["slab 0"], begins["column 0"])
        self.assertEqual(len(contents), 1)

    def test_memory_is_kept_to(self):
        self.write_noise()
        for threads in ("1", "2"):
            self.check_peaks([*FILES, "--threads", threads], "g.npy", (24, 36))

    def test_killed_runs_go_on_and_give_the_same(self):
        self.write_noise()
        found = list(self.kill_and_go_on(self.in_files, self.run_in_files, "g.npy"))
        slabs, columns = (sum(figures[name] for figures in found) for name in ("slabs_found", "columns_found"))
        print(f"{slabs} slabs and {columns} columns found again")

    def test_processes_share_the_work(self):
        self.write_noise(size=(263, 150, 141), components=1)
        self.run_in_files()
        expected = (self.folder / "g.npy").read_bytes()
        (self.folder / "g.npy").unlink()
        words = [*self.in_files, "--json", "-"]
        words[words.index("--memory") + 1] = "84MiB"  # of the node
        result = self.run_on(2, *words)
        self.assertEqual(result.status, 0, result.stderr)
        figures = json.loads(result.stdout)
        self.assertEqual((figures["ranks"], figures["memory_bytes"]), (2, 42 << 20))
        self.assertLess(self.relative_error_of((self.folder / "g.npy").read_bytes(), expected), 1e-15)
        self.assertEqual(self.left_behind(), ["f.npy", "g.npy"])

    def test_killed_runs_of_real_fields_give_the_same_there_and_back(self):
        self.write_noise(size=(263, 150, 141), components=1)
        list(self.kill_and_go_on(self.in_files, self.run_in_files, "g.npy"))
        (self.folder / "g.npy").rename(self.folder / "spectrum.npy")
        self.in_files[self.in_files.index("f.npy")] = "spectrum.npy"
        self.in_files += ["--backward", "--type", "r2c", "--size", "263x150x141"]
        list(self.kill_and_go_on(self.in_files, self.run_in_files, "g.npy"))
        self.assertLess(self.relative_error("g.npy", "f.npy"), 1e-15)

    def test_a_changed_input_is_noticed(self):
        self.write_noise()
        delay_s = 0.1
        while not (self.folder / "g.npy.scratch").exists():
            (self.folder / "g.npy").unlink(missing_ok=True)
            self.kill_after(delay_s, self.in_files)
            delay_s = delay_s * 1.3 if not (self.folder / "g.npy").exists() else 0.05
        self.write_noise()
        result = self.run_alone(*self.in_files)
        self.assertEqual(result.status, 2)
        self.assertEqual(len(result.lines), 1, result.stderr)
        self.assertIn("f.npy", result.lines[0])
        self.assertIn("begin anew", result.lines[0])
        for name in ("g.npy.part", "g.npy.scratch", "g.npy.journal"):
            (self.folder / name).unlink()
        self.run_in_files()

    def test_a_full_disk_is_one_line(self):
        """On a disk of 60 MiB, with room for one of the two files that are made, in a mount namespace of its own."""
        self.write_noise()
        (self.folder / "disk").mkdir()
        probe = self.start(["unshare", "-rm", "sh", "-c", "mount -t tmpfs none disk"])
        if probe.status != 0:
            self.skipTest("this system gives no mount namespace")
        line = " ".join([command.COMMAND, *self.in_files]).replace("g.npy", "disk/g.npy")
        script = f"mount -t tmpfs -o size=60m none disk && {{ {line}; s=$?; ls disk; exit $s; }}"
        result = self.start(["unshare", "-rm", "sh", "-c", script])
        self.assertEqual(result.status, 2, result.stderr)
        self.assertEqual(len(result.lines), 1, result.stderr)
        self.assertIn("No space left", result.lines[0])
        self.assertEqual(result.stdout, "")

    def test_what_does_not_go_with_files_is_one_line(self):
        self.write_noise()
        npy_files.write(self.folder / "r.npy", (2, 2, 2), "<f8", [1.0] * 8)
        small = ["--input", "f.npy", "--output", "g.npy", "--memory"]
        before = self.left_behind()
        for arguments, words in (
            ([*small, "44MiB", "--check"], "--check does not go with a field that --memory does not hold"),
            ([*small, "44MiB", "--reps", "3"], "--reps"),
            ([*small, "44MiB", "--along", "xy"], "--along"),
            ([*small, "32MiB", "--precision", "single"], "--precision"),
            ([*small, "9MiB"], "at least"),
            (["--size", "8x8x8", "--engine", "threads"], "--engine goes with"),
            (["--size", "8x8x8", "--backward"], "--input and --output"),
            (["--input", "r.npy", "--output", "g.npy", "--backward"], "complex128"),
            (["--input", "f.npy", "--output", "g.npy", "--backward", "--type", "r2c", "--size", "9x9x9"], "--size"),
            ([*small, "1GiB", "--type", "r2c"], "--type r2c does not fit"),
            (["--input", "f.npy", "--output", "g.npy", "--backward", "--grid", "1x1"], "--grid"),
            (["--input", "f.npy", "--output", "g.npy", "--backward", "--ranks", "2"], "not by --ranks"),
            (["--input", "f.npy", "--output", "f.npy", "--backward"], "read and written"),
        ):
            with self.subTest(arguments):
                result = self.run_alone("fft", *arguments)
                self.assertEqual(result.status, 2, result.stderr)
                self.assertEqual(len(result.lines), 1, result.stderr)
                self.assertIn(words, result.lines[0])
                self.assertEqual(self.left_behind(), before)


if __name__ == "__main__":
    unittest.main()
