#!/usr/bin/env python3
"""`penstock gemm`: exact results from files, one line for what cannot be, and runs that are killed go on where they were."""

import array
import json
import random
import unittest

import command
import file_runs
import npy_files

FILES = ["gemm", "--a", "a.npy", "--b", "b.npy", "--c", "c.npy"]


def integers(chance, count):
    return [float(chance.randrange(-4, 5)) for _ in range(count)]


class Gemm(file_runs.FileRunTest):
    def setUp(self):
        super().setUp()
        memory = "256MiB" if command.IS_SANITIZED else "64MiB"
        self.run_it = [*FILES, "--machine", str(self.machine), "--memory", memory]

    def write_noise(self, name, rows, columns):
        """A file of whole numbers in float64, larger than npy_files would write in good time: products are exact, however
        they are cut into tiles."""
        chance = random.Random(name)
        line = array.array("d", [float(chance.randrange(-1000, 1001)) for _ in range(columns + rows)])
        with (self.folder / name).open("wb") as file:
            file.write(npy_files.header((rows, columns), "<f8"))
            for row in range(rows):
                file.write(line[row : row + columns].tobytes())

    def test_small_product(self):
        chance = random.Random(3)
        m, n, k = 7, 5, 6
        a, b, c = integers(chance, k * m), integers(chance, k * n), integers(chance, m * n)
        npy_files.write(self.folder / "a.npy", (k, m), "<f8", a)
        npy_files.write(self.folder / "b.npy", (k, n), "<f8", b)
        npy_files.write(self.folder / "c.npy", (m, n), "<f8", c)
        result = self.run_alone(*self.run_it, "--transpose-a", "--alpha", "2", "--beta=-3", "--json", "out.json")
        self.assertEqual(result.status, 0, result.stderr)
        shape, dtype, found = npy_files.read(self.folder / "c.npy")
        self.assertEqual((shape, dtype), ((m, n), "<f8"))
        for i in range(m):
            for j in range(n):
                dot = sum(a[l * m + i] * b[l * n + j] for l in range(k))
                self.assertEqual(found[i * n + j], 2 * dot - 3 * c[i * n + j])
        figures = json.loads((self.folder / "out.json").read_text())
        self.assertEqual((figures["m"], figures["n"], figures["k"]), (m, n, k))
        self.assertEqual(figures["flops"], 2 * m * n * k)
        self.assertGreater(figures["predicted_s"], 0)
        self.assertEqual(self.left_behind(), ["a.npy", "b.npy", "c.npy", "out.json"])

    def test_engines_give_the_same_and_traces_are_json(self):
        self.write_noise("a.npy", 700, 900)
        self.write_noise("b.npy", 900, 800)
        contents = set()
        for engine in ("threads", "auto"):
            result = self.run_alone(*self.run_it, "--engine", engine, "--trace", "trace.json")
            self.assertEqual(result.status, 0, result.stderr)
            contents.add((self.folder / "c.npy").read_bytes())
            events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
            self.assertTrue(any(event["ph"] == "X" and "arrives" in event["name"] for event in events))
        self.assertEqual(len(contents), 1)

    @command.needs_a_small_process
    def test_memory_is_kept_to(self):
        self.write_noise("a.npy", 1500, 1500)
        self.write_noise("b.npy", 1500, 1500)
        for threads in ("1", "2"):
            self.check_peaks([*FILES, "--threads", threads], "c.npy", (40, 25))
            figures = json.loads((self.folder / "peak.json").read_text())
            self.assertGreater(figures["tiling"]["tiles"], 1)

    @command.needs_a_small_process
    def test_killed_runs_go_on_and_give_the_same(self):
        self.write_noise("a.npy", 2100, 1500)
        self.write_noise("b.npy", 1500, 1600)
        self.run_it[-1] = "30MiB"
        line = [*self.run_it, "--threads", "1"]

        def run():
            result = self.run_alone(*line, "--json", "-")
            self.assertEqual(result.status, 0, result.stderr)
            figures = json.loads(result.stdout)
            self.assertGreater(figures["tiling"]["tiles"], 3)
            return figures["tiles_found"]

        print(f"{sum(self.kill_and_go_on(line, run, 'c.npy'))} tiles found again")

    def test_ranks_multiply_exactly(self):
        for arguments in (
            ["--transpose-a", "--alpha", "2", "--beta=-1", "--type", "complex64"],
            ["--block", "16", "--adjoint-b"],
        ):
            with self.subTest(arguments):
                result = self.run_alone(
                    "gemm", "--size", "70,50,90", "--ranks", "4", "--reps", "1", "--check", "--json", "-", *arguments
                )
                self.assertEqual(result.status, 0, result.stderr)
                figures = json.loads(result.stdout)
                self.assertEqual((figures["m"], figures["n"], figures["k"], figures["ranks"]), (70, 50, 90, 4))
                self.assertEqual(figures["wrong_rows"], 0)

    def test_algorithms_are_forced_and_told(self):
        for algorithm, layers in (("cannon", None), ("stationary", None), ("layered", "2,2,1")):
            with self.subTest(algorithm):
                given = ["--algorithm", algorithm] + (["--layers", layers] if layers else [])
                result = self.run_alone(
                    "gemm", "--size", "70,50,90", "--ranks", "4", "--reps", "1", "--check", "--json", "-", *given
                )
                self.assertEqual(result.status, 0, result.stderr)
                figures = json.loads(result.stdout)
                self.assertEqual((figures["algorithm"], figures["reason"]), (algorithm, "asked for"))
                self.assertEqual(figures["layers"], [2, 2, 1] if layers else [1, 2, 2])
                self.assertEqual(figures["wrong_rows"], 0)
                self.assertGreater(figures["predicted_s"], 0)

    def test_bench_times_every_way(self):
        alone = self.run_on(1, "bench", "gemm", "--n", "96", "--rounds", "2", "--json", "-")
        self.assertEqual(alone.status, 0, alone.stderr)
        self.assertEqual(len(json.loads(alone.stdout)["results"]), 2)
        if command.MPIEXEC:
            ranks = self.run_on(2, "bench", "gemm", "--n", "96", "--rounds", "2", "--scalapack-block", "16")
            self.assertEqual(ranks.status, 0, ranks.stderr)
            self.assertTrue("pdgemm" in ranks.stdout or "No ScaLAPACK" in ranks.stdout, ranks.stdout)

    @command.needs_a_small_process
    def test_bench_of_files_leaves_nothing_and_has_the_same_products(self):
        result = self.run_alone("bench", "gemm", "--n", "500", "--rounds", "2", "--memory", "40MiB", "--json", "-")
        self.assertEqual(result.status, 0, result.stderr)
        figures = json.loads(result.stdout)
        self.assertEqual([len(figures["results"]), figures["memory_bytes"]], [2, 40 * 2**20])
        self.assertEqual(self.left_behind(), [])
        told = self.run_alone("bench", "gemm", "--n", "300", "--rounds", "1", "--memory", "40MiB").stdout
        self.assertEqual("no more than 40.0 MiB" in told, figures["limit_is_imposed"], told)
        self.assertEqual("could be imposed:" in told, not figures["limit_is_imposed"], told)
        for arguments, word in (
            (["--memory", "none"], "--memory"),
            (["--memory", "1MiB"], "give at least"),
            (["--memory", "40MiB", "--folder", "nowhere"], "nowhere"),
            (["--memory", "40MiB", "--ranks", "2"], "one process"),
        ):
            with self.subTest(arguments):
                refused = self.run_alone("bench", "gemm", "--n", "300", *arguments)
                self.assertNotEqual(refused.status, 0)
                self.assertEqual(len(refused.lines), 1, refused.stderr)
                self.assertIn(word, refused.lines[0])
                self.assertEqual(self.left_behind(), [])

    def test_bad_input_is_one_line(self):
        npy_files.write(self.folder / "a.npy", (2, 3), "<f8", [1.0] * 6)
        npy_files.write(self.folder / "b.npy", (3, 2), "<f8", [1.0] * 6)
        npy_files.write(self.folder / "f.npy", (3, 2), "<f4", [1.0] * 6)
        npy_files.write(self.folder / "cube.npy", (3, 2, 1), "<f8", [1.0] * 6)
        (self.folder / "cut.npy").write_bytes((self.folder / "b.npy").read_bytes()[:-5])
        (self.folder / "folder").mkdir()
        before = self.left_behind()
        for arguments, words in (
            (["--b", "missing.npy"], "no such file"),
            (["--b", "f.npy"], "float32"),
            (["--b", "cube.npy"], "3 dimensions"),
            (["--b", "cut.npy"], "needs 48 bytes"),
            (["--b", "a.npy"], "A's columns"),
            (["--c", "a.npy"], "read and written"),
            (["--c", "nowhere/c.npy"], "folder"),
            (["--c", "folder"], "not a regular file"),
            (["--beta", "1"], "c.npy"),
            (["--alpha", "1,1"], "real"),
            (["--alpha", "x"], "not a number"),
            (["--memory", "1MiB"], "give at least"),
            (["--memory", "0"], "--memory"),
            (["--machine", str(command.MACHINE)], "storage"),
            (["--engine", "punch-cards"], "io_uring"),
            (["--size", "3,4,5"], "give one of the two"),
            (["--algorithm", "strassen"], "layered"),
            (["--layers", "2,2"], "LAYERS,ROWS,COLUMNS"),
            (["--ranks", "2"], "one process"),
        ):
            with self.subTest(arguments):
                given = [*self.run_it]
                for name, value in zip(arguments[::2], arguments[1::2]):
                    if name in given:
                        given[given.index(name) + 1] = value
                    else:
                        given += [name, value]
                result = self.run_alone(*given)
                self.assertEqual(result.status, 2, result.stderr)
                self.assertEqual(len(result.lines), 1, result.stderr)
                self.assertIn(words, result.lines[0])
                self.assertEqual(self.left_behind(), before)

    @command.needs_a_small_process
    def test_a_changed_input_is_noticed(self):
        self.write_noise("a.npy", 2100, 1500)
        self.write_noise("b.npy", 1500, 1600)
        self.run_it[-1] = "30MiB"
        delay_s = 0.2
        while not (self.folder / "c.npy.part").exists():
            (self.folder / "c.npy").unlink(missing_ok=True)
            self.kill_after(delay_s, self.run_it)
            delay_s = delay_s * 1.3 if not (self.folder / "c.npy").exists() else 0.1
        self.write_noise("b.npy", 1500, 1600)
        result = self.run_alone(*self.run_it)
        self.assertEqual(result.status, 2)
        self.assertEqual(len(result.lines), 1, result.stderr)
        self.assertIn("b.npy", result.lines[0])
        self.assertIn("begin anew", result.lines[0])
        (self.folder / "c.npy.part").unlink()
        (self.folder / "c.npy.journal").unlink()
        self.assertEqual(self.run_alone(*self.run_it).status, 0)

    def test_a_full_disk_is_one_line(self):
        """On a disk of 4 MiB in a mount namespace of its own; needs a system that lets this process have one."""
        self.write_noise("a.npy", 1000, 200)
        self.write_noise("b.npy", 200, 1000)
        disk = self.folder / "disk"
        disk.mkdir()
        line = " ".join([command.COMMAND, *self.run_it]).replace("c.npy", "disk/c.npy")
        script = f"mount -t tmpfs -o size=4m none disk && {{ {line}; s=$?; ls disk; exit $s; }}"
        probe = self.start(["unshare", "-rm", "sh", "-c", "mount -t tmpfs none disk"])
        if probe.status != 0:
            self.skipTest("this system gives no mount namespace")
        result = self.start(["unshare", "-rm", "sh", "-c", script])
        self.assertEqual(result.status, 2, result.stderr)
        self.assertEqual(len(result.lines), 1, result.stderr)
        self.assertIn("No space left", result.lines[0])
        self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    unittest.main()
