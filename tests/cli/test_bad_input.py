#!/usr/bin/env python3
"""What `penstock fft` cannot use ends with status 2 and one line on every number of processes, and leaves no file."""

import unittest

import command
import npy_files

SIZE = ("--size", "16x16x16")


class BadInput(command.CommandTest):
    def assert_refused(self, result, *parts):
        """`parts` are what the one line must say."""
        self.assertEqual(result.status, 2, result.stderr)
        self.assertEqual(len(result.lines), 1, result.stderr)
        for part in parts:
            self.assertIn(part, result.lines[0])
        self.assertEqual(result.stdout, "")

    def assert_refused_alone(self, arguments, *parts):
        self.assert_refused_on([1], arguments, *parts)

    def assert_refused_everywhere(self, arguments, *parts):
        self.assert_refused_on(command.process_counts(), arguments, *parts)

    def assert_refused_on(self, process_counts, arguments, *parts):
        before = self.left_behind()
        for processes in process_counts:
            with self.subTest(processes=processes, arguments=arguments):
                result = self.run_on(processes, "fft", *arguments)
                self.assert_refused(result, *parts)
                if processes == 1:
                    self.assertEqual(result.stderr.count("\n"), 1)
                self.assertEqual(self.left_behind(), before)

    def test_sizes_that_are_none(self):
        self.assert_refused_everywhere(("--size", "0x16x16"), "--size 0x16x16", "at least 1")
        self.assert_refused_everywhere(("--size", "-4x16x16"), "--size -4x16x16", "at least 1")
        self.assert_refused_everywhere(("--size", "abc"), "--size abc", "NXxNYxNZ")
        self.assert_refused_alone(("--size", "16x16"), "--size 16x16", "NXxNYxNZ")
        self.assert_refused_alone(("--size", "16x16x16x16"), "NXxNYxNZ")
        self.assert_refused_alone(("--size", "16x1.5x16"), "NXxNYxNZ")
        self.assert_refused_everywhere(("--size", "99999999999999999999x1x1"), "64 bits")
        self.assert_refused_everywhere(("--size", "9999999999x9999999999x9999999999"), "64 bits")
        self.assert_refused_everywhere((), "--size", "--input")

    def test_numbers_that_mean_nothing(self):
        self.assert_refused_everywhere((*SIZE, "--threads", "0"), "--threads 0", "at least 1")
        self.assert_refused_alone((*SIZE, "--reps", "-1"), "--reps -1", "at least 1")
        self.assert_refused_alone((*SIZE, "--batch", "two"), "--batch two", "not a whole number")
        self.assert_refused_alone((*SIZE, "--planes-per-message", "99999999999999999999"), "--planes-per-message", "at most")
        self.assert_refused_alone((*SIZE, "--deferred-parts", "8"), "8 deferred parts", "0 to 7")
        self.assert_refused_alone((*SIZE, "--filter-lowpass", "nan"), "--filter-lowpass nan")
        self.assert_refused_alone((*SIZE, "--memory", "lots"), "--memory", "lots")

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_deferred_parts_of_mpis_own_ways(self):
        arguments = (*SIZE, "--deferred-parts", "2", "--algorithm", "mpi-packed")
        self.assert_refused_alone(arguments, "2 deferred parts", "MPI's own ways")

    def test_flags_and_choices_that_are_unknown(self):
        self.assert_refused_everywhere((*SIZE, "--frobnicate"), "--frobnicate")
        self.assert_refused_alone((*SIZE, "stray"), "stray")
        self.assert_refused_everywhere((*SIZE, "--type", "c2x"), "--type c2x", "c2c, r2c, r2r")
        self.assert_refused_everywhere((*SIZE, "--type", "r2r", "--kinds", "dct"), "--kinds dct", "redft00, redft10")
        self.assert_refused_alone((*SIZE, "--type", "r2r", "--kinds", "redft00,redft00"), "one each for x, y and z")
        self.assert_refused_alone((*SIZE, "--type", "r2r", "--kinds", "redft00,,redft00"), "--kinds", "rodft11")
        self.assert_refused_alone((*SIZE, "--type", "r2r", "--kinds", "redft00,fourier,redft00"), "--kinds", "r2r is real")
        self.assert_refused_everywhere((*SIZE, "--type", "r2c", "--kinds", "redft10"), "without a Fourier transform")
        self.assert_refused_alone((*SIZE, "--sequence", "xy"), "--sequence xy", "each of x, y and z once")
        self.assert_refused_everywhere((*SIZE, "--along", "xw"), "--along xw", "x, y and z")
        self.assert_refused_alone((*SIZE, "--along", "xx"), "--along xx", "each once")
        self.assert_refused_alone((*SIZE, "--along", ""), "--along", "no direction")
        self.assert_refused_alone((*SIZE, "--along", "xy", "--filter-lowpass", "3"), "--filter-lowpass", "xyz")
        self.assert_refused_alone((*SIZE, "--type", "r2r", "--spectrum", "file"), "--spectrum", "of Fourier transforms")
        self.assert_refused_alone((*SIZE, "--kinds", "fourier,redft10,fourier", "--filter-lowpass", "3"), "Fourier")
        self.assert_refused_alone(
            ("--size", "8x1x8", "--type", "r2r", "--kinds", "redft00"), "redft00 needs at least 2 points"
        )
        self.assert_refused_alone((*SIZE, "--precision", "half"), "single, double")
        self.assert_refused_alone((*SIZE, "--transport", "pigeon"), "auto, threads, shm, mpi")
        self.assert_refused_alone((*SIZE, "--planes-per-message", "4", "--algorithm", "slabs"), "--planes-per-message", "--algorithm")

    def test_a_described_machine_is_no_machine_of_a_run(self):
        self.assert_refused_everywhere((*SIZE, "--machine", "gigabit-ethernet"), "--machine gigabit-ethernet",
                                       "as penstock calibrate writes it")

    def test_grids_that_do_not_multiply_to_the_ranks(self):
        self.assert_refused_everywhere((*SIZE, "--grid", "5x7"), "grid of 5x7", "35", "ranks")
        self.assert_refused_alone((*SIZE, "--grid", "0x1"), "--grid 0x1", "at least 1")
        self.assert_refused_alone((*SIZE, "--grid", "2"), "--grid 2", "TYxTZ")
        self.assert_refused(self.run_alone("fft", *SIZE, "--ranks", "3", "--grid", "2x2"), "grid of 2x2", "3 ranks")

    def test_files_that_are_no_fields(self):
        numbers = range(4 * 4 * 4)
        npy_files.write(self.folder / "good.npy", (4, 4, 4), "<f8", numbers)
        npy_files.write(self.folder / "fortran.npy", (4, 4, 4), "<f8", numbers, fortran_order=True)
        npy_files.write(self.folder / "whole.npy", (4, 4, 4), "<i4", numbers)
        npy_files.write(self.folder / "flat.npy", (8, 8), "<f8", numbers)
        content = (self.folder / "good.npy").read_bytes()
        (self.folder / "cut.npy").write_bytes(content[:-8])
        (self.folder / "cut_header.npy").write_bytes(content[:40])
        (self.folder / "text.npy").write_text("no numbers here")
        for name, part in (
            ("missing.npy", "no such file"),
            ("cut.npy", "bytes"),
            ("fortran.npy", "Fortran"),
            ("text.npy", "not a .npy file"),
        ):
            self.assert_refused_everywhere(("--input", name), name, part)
        for name, part in (("cut_header.npy", "header"), ("whole.npy", "<i4"), ("flat.npy", "2 dimensions")):
            self.assert_refused_alone(("--input", name), name, part)

    def test_types_and_sizes_that_do_not_fit_the_file(self):
        npy_files.write(self.folder / "real.npy", (4, 4, 4), "<f4", range(64))
        npy_files.write(self.folder / "complex.npy", (4, 4, 4), "<c16", range(128))
        self.assert_refused_everywhere(("--input", "real.npy", "--type", "c2c"), "float32", "r2c")
        self.assert_refused_everywhere(("--input", "complex.npy", "--type", "r2c"), "complex128", "c2c")
        self.assert_refused_alone(("--input", "real.npy", *SIZE), "16x16x16", "4x4x4")

    def test_paths_that_cannot_be_written(self):
        (self.folder / "folder").mkdir()
        self.assert_refused_everywhere((*SIZE, "--output", "nowhere/file"), "nowhere/file", "folder")
        self.assert_refused_everywhere((*SIZE, "--output", "folder"), "folder", "not a regular file")
        for option in ("--json", "--spectrum"):
            self.assert_refused_alone((*SIZE, option, "nowhere/file"), "nowhere/file", "folder")
            self.assert_refused_alone((*SIZE, option, "folder"), "folder", "not a regular file")
        self.assert_refused_alone((*SIZE, "--output", "same", "--json", "same"), "two results go to same")
        self.assert_refused_alone((*SIZE, "--output", "batch.npy", "--batch", "2"), "--batch")

    def test_machines_that_cannot_be_read(self):
        (self.folder / "machine.toml").write_text("name = \n")
        self.assert_refused_everywhere((*SIZE, "--machine", "missing.toml"), "missing.toml")
        self.assert_refused_alone((*SIZE, "--machine", "machine.toml"), "machine.toml")

    def test_problems_that_do_not_fit_the_memory(self):
        self.assert_refused_everywhere(("--size", "100000x100000x100000"), "wants 28.4 PiB", "which has")
        self.assert_refused_everywhere(("--size", "64x64x64", "--memory", "5MiB"), "wants 8", "which has 5.00 MiB")
        self.assert_refused_everywhere(
            ("--size", "100000x100000x100000", "--output", "huge.npy", "--algorithm", "slabs"), "wants", "which has"
        )

    def test_transports_that_cannot_be_had(self):
        self.assert_refused(self.run_alone("fft", *SIZE, "--ranks", "2", "--transport", "mpi"), "mpi")
        self.assert_refused(self.run_alone("fft", *SIZE, "--ranks", "100000"), "--ranks 100000", "at most")
        if command.MPIEXEC:
            self.assert_refused(self.run_on(2, "fft", *SIZE, "--transport", "threads"), "--transport threads")
            self.assert_refused(self.run_on(2, "fft", *SIZE, "--ranks", "3"), "--ranks 3", "2 processes")

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_arguments_that_differ_between_ranks(self):
        good = ("fft", *SIZE)
        worlds = [(good, good, ("fft", "--size", "0x0x0")), (("fft", "--size", "32x32x32"), good)]
        for other in (("fft", "--size", "32x32x32"), ("fft", *SIZE, "--frobnicate"), ("nas-ft", "--class", "S"), ()):
            worlds.append((good, other))
        for world in worlds:
            with self.subTest(world=world):
                self.assert_refused(self.run_each(*world), "the ranks differ", "rank 0 has")


if __name__ == "__main__":
    unittest.main()
