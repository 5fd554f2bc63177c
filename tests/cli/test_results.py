#!/usr/bin/env python3
"""What `penstock fft` reports and writes, on fields small enough to know the answer."""

import cmath
import itertools
import json
import math
import shutil
import unittest

import command
import npy_files

SHAPE = (4, 5, 6)  # nz, ny, nx
POINTS = list(itertools.product(*(range(n) for n in SHAPE)))


def wave(wavenumber):
    """exp(2 pi i k x / n) at every point; `wavenumber` is kz, ky, kx."""
    return [
        cmath.exp(2j * math.pi * sum(k * i / n for k, i, n in zip(wavenumber, point, SHAPE))) for point in POINTS
    ]


def parts(numbers):
    return [part for number in numbers for part in (number.real, number.imag)]


class Results(command.CommandTest):
    def run_well(self, processes, *arguments):
        result = self.run_on(processes, "fft", *arguments)
        self.assertEqual(result.status, 0, result.stderr)
        self.assertEqual(result.lines, [])
        return result.stdout

    def assert_close(self, found, expected):
        self.assertEqual(len(found), len(expected))
        self.assertLess(max(abs(a - b) for a, b in zip(found, expected)), 1e-12)

    def test_the_spectrum_of_a_wave_is_one_mode_at_its_place_in_c_order(self):
        npy_files.write(self.folder / "wave.npy", SHAPE, "<c16", parts(wave((1, 2, 4))))
        expected = [120 if point == (1, 2, 4) else 0 for point in POINTS]
        for processes in command.process_counts():
            for layout in ("transposed", "as-input"):
                self.run_well(processes, "--input", "wave.npy", "--output", "spectrum.npy", "--layout", layout)
                shape, dtype, found = npy_files.read(self.folder / "spectrum.npy")
                self.assertEqual((shape, dtype), (SHAPE, "<c16"))
                self.assert_close(found, expected)
        self.run_well(1, "--input", "wave.npy", "--output", "spectrum.npy", "--scaling", "full", "--ranks", "4")
        self.assert_close(npy_files.read(self.folder / "spectrum.npy")[2], [value / 120 for value in expected])

    def test_the_spectrum_of_a_real_field_has_the_half_that_determines_it(self):
        npy_files.write(self.folder / "real.npy", SHAPE, "<f8", [2 * value.real for value in wave((3, 2, 1))])
        self.run_well(1, "--input", "real.npy", "--output", "spectrum.npy", "--ranks", "3")
        shape, dtype, found = npy_files.read(self.folder / "spectrum.npy")
        self.assertEqual((shape, dtype), ((4, 5, 4), "<c16"))
        expected = [120 if point == (3, 2, 1) else 0 for point in itertools.product(range(4), range(5), range(4))]
        self.assert_close(found, expected)

    def test_the_low_pass_filter_keeps_what_is_within_its_radius(self):
        low, high = wave((3, 1, 0)), wave((2, 0, 5))  # wavenumbers (-1, 1, 0) and (2, 0, -1)
        for dtype, of in (("<c16", parts), ("<f8", lambda numbers: [number.real for number in numbers])):
            npy_files.write(self.folder / "field.npy", SHAPE, dtype, of([a + 3 * b for a, b in zip(low, high)]))
            for processes in command.process_counts():
                arguments = ("--input", "field.npy", "--filter-lowpass", "1.5", "--output", "filtered.npy")
                self.run_well(processes, *arguments)
                shape, found_dtype, found = npy_files.read(self.folder / "filtered.npy")
                self.assertEqual((shape, found_dtype), (SHAPE, dtype))
                self.assert_close(found if dtype == "<f8" else parts(found), of(low))

    def test_the_radial_spectrum_has_a_wave_in_its_shell(self):
        npy_files.write(self.folder / "wave.npy", SHAPE, "<c16", parts(wave((2, 3, 1))))  # (2, -2, 1): 3
        for processes in command.process_counts():
            self.run_well(processes, "--input", "wave.npy", "--spectrum", "power.txt")
            title, *lines = (self.folder / "power.txt").read_text().splitlines()
            self.assertEqual(title, "# wavenumber power modes")
            rows = [[float(number) for number in line.split()] for line in lines]
            self.assertEqual([row[0] for row in rows], [0, 1, 2, 3, 4])
            self.assert_close([row[1] for row in rows], [0, 0, 0, 1, 0])
            self.assertEqual(sum(row[2] for row in rows), 120)

    def test_single_precision_is_taken_from_the_file_unless_another_is_asked_for(self):
        npy_files.write(self.folder / "single.npy", SHAPE, "<f4", range(120))
        report = json.loads(self.run_well(1, "--input", "single.npy", "--json", "-", "--check"))
        self.assertEqual((report["precision"], report["type"], report["size"]), ("single", "r2c", [6, 5, 4]))
        report = json.loads(self.run_well(1, "--input", "single.npy", "--json", "-", "--precision", "double", "--check"))
        self.assertEqual(report["precision"], "double")
        self.assertLess(report["relative_error"], 1e-14)

    def test_json_has_the_figures_and_standard_output_the_table(self):
        table = self.run_well(1, "--size", "12x10x8", "--json", "report.json", "--reps", "3", "--ranks", "2")
        for title in ("Machine", "Problem", "Ranks", "Plan", "Memory", "Forward", "Backward", "Rate", "Limit", "Error"):
            self.assertIn(f"\n{title} ", "\n" + table)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["size"], [12, 10, 8])
        self.assertEqual(report["ranks"], 2)
        self.assertEqual(report["grid"], [1, 2])
        self.assertEqual(report["transport"], "threads")
        self.assertIn(report["algorithm"], ("packed", "slabs"))
        self.assertGreaterEqual(report["threads"], 1)
        self.assertIsNone(report["relative_error"])
        for key in ("rate_gflops", "limit_s", "fraction_of_limit"):
            self.assertGreater(report[key], 0)
        for direction in ("forward", "backward"):
            self.assertLessEqual(report[f"{direction}_min_s"], report[f"{direction}_median_s"])
        flops = 5 * 960 * math.log2(960)
        self.assertAlmostEqual(report["rate_gflops"], flops / report["forward_min_s"] / 1e9)

    def test_the_table_tells_how_exchanges_are_cut(self):
        cut = ("--size", "12x10x8", "--ranks", "2", "--planes-per-message", "2")
        self.assertIn(" grid 1x2, 2 planes per message, 3/8 deferred, ", self.run_well(1, *cut, "--deferred-parts", "3"))
        self.assertIn(" grid 1x2, 2 planes per message, 2 passes", self.run_well(1, *cut, "--deferred-parts", "0"))

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_a_thread_polls_a_network(self):
        size = ("--size", "12x10x8", "--check", "--json", "-", "--progress")
        for transport, progress, expected in (
            ("shm", "thread", "tiles"),  # stores need no polls
            ("mpi", "thread", "thread"),
            ("mpi", "tiles", "tiles"),
        ):
            with self.subTest(transport=transport, progress=progress):
                report = json.loads(self.run_well(2, *size, progress, "--transport", transport))
                self.assertEqual(report["progress"], expected)
        table = self.run_well(2, "--size", "12x10x8", "--transport", "mpi", "--progress", "thread")
        self.assertIn(", progress by a thread, ", table)

    def test_the_limit_comes_from_a_machine_file_where_one_is_given(self):
        (self.folder / "slow.toml").write_text(
            'name = "slow"\nyear = 2000\ncount = 1\n[node]\ncores = 1\npeak_flops = 2e9\n'
            "memory_bandwidth_bytes_per_s = 1e9\ncache_bytes = 1024\ncache_l2_bytes = 512\nline_bytes = 64\n"
            "fft_rate_flops_per_core = 1e9\ngemm_rate_flops_per_core = 1e9\n"
        )
        report = json.loads(self.run_well(1, "--size", "16x16x16", "--machine", "slow.toml", "--json", "-"))
        self.assertEqual((report["machine"], report["machine_source"]), ("slow", "slow.toml"))
        self.assertAlmostEqual(report["limit_memory_s"], 4 * 16 * 4096 / 1e9)
        self.assertAlmostEqual(report["limit_arithmetic_s"], 5 * 4096 * 12 / 1e9)

    def test_wisdom_is_kept_between_runs_and_ignored_where_it_is_damaged(self):
        self.run_well(1, "--size", "30x21x22")
        self.assertFalse(self.cache.exists())
        for local in command.LOCAL_TRANSFORMS:
            with self.subTest(local=local):
                self.check_wisdom("--size", "30x21x22", "--effort", "measure", "--local", local)
                shutil.rmtree(self.cache)

    def check_wisdom(self, *size):
        self.run_well(1, *size, "--no-wisdom")
        self.assertFalse(self.cache.exists())
        self.run_well(1, *size)
        [wisdom] = (self.cache / "penstock").iterdir()
        for processes in command.process_counts():
            self.run_well(processes, *size)
            self.assertTrue(wisdom.read_text().startswith("# penstock wisdom"))
        self.assertIn("wisdom read from", self.run_well(1, *size))
        self.assertEqual([path.name for path in wisdom.parent.iterdir()], [wisdom.name])
        for damage in ("", "rubbish", wisdom.read_text()[:-20]):
            wisdom.write_text(damage)
            result = self.run_alone("fft", *size, "--check")
            self.assertEqual(result.status, 0, result.stderr)
            self.assertEqual([line[:15] for line in result.lines], ["penstock: note:"] * (damage != ""))
            self.assertTrue(wisdom.read_text().startswith("# penstock wisdom"))

    def test_a_result_that_cannot_be_printed_fails_the_run(self):
        for arguments in (("--version",), ("fft", "--size", "4x4x4")):
            with open("/dev/full", "w") as full:
                result = self.start([command.COMMAND, *arguments], stdout=full)
            self.assertEqual(result.status, 1)
            self.assertEqual(len(result.lines), 1, result.stderr)

    def test_help_and_version_are_printed_once(self):
        for processes in command.process_counts():
            self.assertEqual(self.run_on(processes, "--version").stdout.count("penstock 0."), 1)
            self.assertEqual(self.run_on(processes, "fft", "--help").stdout.count("--filter-lowpass RADIUS"), 1)


if __name__ == "__main__":
    unittest.main()
