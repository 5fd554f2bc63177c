#!/usr/bin/env python3
"""examples/navier_stokes: published values, restarts that give the same bits, and clear refusals, on 1 to 4 ranks.

CTest says what to run: PENSTOCK_NAVIER_STOKES, and PENSTOCK_MPIEXEC (empty in a build without MPI).
"""

import csv
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import taylor_green_series

PROGRAM = os.environ["PENSTOCK_NAVIER_STOKES"]
MPIEXEC = os.environ.get("PENSTOCK_MPIEXEC", "")
RANKS = (1, 2, 3, 4) if MPIEXEC else (1,)
TIME_LIMIT_S = 120


class NavierStokes(unittest.TestCase):
    """Each test has a folder of its own, in which the program runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def line(self, ranks, arguments):
        """One rank without a launcher, several with it; a thread each, since tests share the processors."""
        return [MPIEXEC, "-n", str(ranks)] * (ranks > 1) + [PROGRAM, "--threads", "1", *map(str, arguments)]

    def start(self, ranks, *arguments):
        return subprocess.run(
            self.line(ranks, arguments),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
        )

    def run_on(self, ranks, *arguments):
        result = self.start(ranks, *arguments)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def samples(self, name):
        with (self.folder / name).open() as file:
            return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]

    def bytes_of(self, name):
        return (self.folder / name).read_bytes()


class PublishedValues(NavierStokes):
    def test_the_first_tenth_at_reynolds_1600_is_that_of_spectralDNS(self):
        # The values that spectralDNS (github.com/spectralDNS/spectralDNS, demo/TG.py) asserts of its own solver, to seven
        # digits, for the same grid and steps.
        self.run_on(1, "--size", 32, "--reynolds", 1600, "--dt", 0.01, "--time", 0.1, "--csv", "a.csv")
        last = self.samples("a.csv")[-1]
        self.assertAlmostEqual(last["time"], 0.1, places=12)
        self.assertAlmostEqual(last["energy"], 0.124953117517, places=7)
        self.assertAlmostEqual(last["enstrophy"], 0.375249930801, places=7)

    def test_enstrophy_follows_the_series_of_the_equations_in_exact_arithmetic(self):
        coefficients = taylor_green_series.enstrophy(6)
        self.run_on(RANKS[-1], "--size", 24, "--reynolds", 50, "--dt", 0.01, "--time", 0.3, "--csv", "a.csv", "--check")
        samples = self.samples("a.csv")
        self.assertEqual(len(samples), 31)
        for sample in samples:
            wanted = taylor_green_series.evaluate(coefficients, 1 / 50, sample["time"])
            # The next term of the series is about 1e-3 t^7.
            self.assertLess(abs(sample["enstrophy"] - wanted), 1e-9 + 1e-3 * sample["time"] ** 7)

    def test_what_is_known_of_each_flow_holds(self):
        for flow, process_counts in (("3d", {RANKS[0], RANKS[-1]}), ("2d", RANKS[2:3] or RANKS)):
            for ranks in process_counts:
                out = self.run_on(ranks, "--flow", flow, "--size", 33, "--reynolds", 40, "--time", 1, "--check")
                self.assertEqual(out.count(": right"), 2, out)
                self.assertIn("in transforms:", out)

    @unittest.skipUnless(MPIEXEC, "there is one rank")
    def test_components_on_their_way_at_the_same_time_give_the_same_bits(self):
        run = ("--size", 21, "--reynolds", 40, "--time", 0.5)
        for transport, at_a_time in (("shm", 1), ("mpi", 3)):
            out = self.run_on(3, *run, "--transport", transport, "--csv", f"{transport}.csv", "--check")
            self.assertIn(f"{at_a_time} components at a time", out)
        self.assertEqual(self.bytes_of("shm.csv"), self.bytes_of("mpi.csv"))

    def test_grids_that_keep_the_same_modes_give_the_same_flow(self):
        # 16 and 18 points keep |k| < 6, too few for this flow: what is mistaken for other modes would differ.
        for size in (16, 18):
            self.run_on(1, "--size", size, "--reynolds", 10000, "--dt", 0.02, "--time", 5, "--csv", f"{size}.csv")
        for one, other in zip(self.samples("16.csv"), self.samples("18.csv"), strict=True):
            self.assertAlmostEqual(one["enstrophy"], other["enstrophy"], places=11)

    def test_steps_that_are_too_long_are_found(self):
        result = self.start(1, "--flow", "2d", "--size", 16, "--dt", 0.3, "--time", 2.1, "--check")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(result.stdout.count(": WRONG"), 2, result.stdout)
        result = self.start(RANKS[-1], "--size", 32, "--dt", 1, "--reynolds", 1000, "--time", 100)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(result.stderr.count("give a --dt that is less"), 1, result.stderr)


class Restarts(NavierStokes):
    RUN = ("--size", 20, "--reynolds", 80, "--dt", 0.02)

    def assert_same_files(self, *pairs):
        for one, other in pairs:
            self.assertEqual(self.bytes_of(one), self.bytes_of(other), f"{one} differs from {other}")

    def test_a_restarted_run_gives_the_same_bits(self):
        for ranks in {RANKS[0], RANKS[-1]}:
            self.run_on(ranks, *self.RUN, "--time", 0.8, "--csv", "whole.csv", "--checkpoint", "whole")
            self.run_on(ranks, *self.RUN, "--time", 0.3, "--checkpoint", "half")
            self.run_on(ranks, *self.RUN, "--time", 0.8, "--restart", "half", "--csv", "b.csv", "--checkpoint", "b")
            self.assert_same_files(("whole.csv", "b.csv"), ("whole", "b"))

    def test_threads_give_the_same_bits(self):
        for threads in (1, 3):
            self.run_on(1, *self.RUN, "--time", 0.4, "--threads", threads, "--checkpoint", f"of{threads}")
        self.assert_same_files(("of1", "of3"))

    def test_a_state_goes_on_on_other_ranks(self):
        self.run_on(RANKS[-1], *self.RUN, "--time", 0.3, "--checkpoint", "half")
        self.run_on(1, *self.RUN, "--time", 0.8, "--restart", "half", "--csv", "alone.csv", "--check")
        self.run_on(RANKS[-1], *self.RUN, "--time", 0.8, "--csv", "all.csv")
        for one, other in zip(self.samples("alone.csv"), self.samples("all.csv")):
            self.assertAlmostEqual(one["enstrophy"], other["enstrophy"], places=13)

    def test_a_run_whose_rank_was_killed_goes_on_from_its_last_checkpoint(self):
        ranks = RANKS[:2][-1]
        self.kill_after_a_checkpoint(ranks, *self.RUN, "--time", 1e5, "--checkpoint", "state", "--checkpoint-every", 5)
        self.run_on(ranks, *self.RUN, "--time", 0, "--restart", "state", "--csv", "a.csv")
        steps = len(self.samples("a.csv")) - 1
        self.assertEqual(steps % 5, 0)
        run = (*self.RUN, "--time", (steps + 20) * 0.02)
        self.run_on(ranks, *run, "--restart", "state", "--csv", "b.csv")
        self.run_on(ranks, *run, "--csv", "whole.csv")
        self.assert_same_files(("whole.csv", "b.csv"))

    def kill_after_a_checkpoint(self, ranks, *arguments):
        with subprocess.Popen(
            self.line(ranks, arguments),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as launcher:
            try:
                begin_s = time.monotonic()
                while not (self.folder / "state").exists():
                    self.assertLess(time.monotonic() - begin_s, TIME_LIMIT_S)
                    time.sleep(0.01)
                os.kill(self.ranks_here()[-1], signal.SIGKILL)
                self.assertNotEqual(launcher.wait(TIME_LIMIT_S), 0)
            finally:
                launcher.kill()

    def ranks_here(self):
        """The processes that run the program in this test's folder."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (entry / "cwd").samefile(self.folder) and (entry / "exe").samefile(PROGRAM):
                    found.append(int(entry.name))
            except OSError:
                continue  # ended meanwhile, or not ours to look at
        return sorted(found)


class Refusals(NavierStokes):
    def assert_refused(self, part, *arguments, process_counts=RANKS[:1]):
        for ranks in process_counts:
            with self.subTest(ranks=ranks, arguments=arguments):
                result = self.start(ranks, *arguments)
                lines = [line for line in result.stderr.splitlines() if line.startswith("navier_stokes:")]
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(len(lines), 1, result.stderr)
                self.assertIn(part, lines[0])

    def test_options_that_cannot_be_used(self):
        self.assert_refused("--size '3': a number from 4", "--size", 3, process_counts=RANKS)
        self.assert_refused("--size '99999999999999999999'", "--size", "99999999999999999999")
        self.assert_refused("--reynolds 'nan'", "--reynolds", "nan")
        self.assert_refused("--dt '0'", "--dt", 0)
        self.assert_refused("pigeon", "--transport", "pigeon")
        self.assert_refused("--flow '4d': 3d or 2d", "--flow", "4d")
        self.assert_refused("--frobnicate: there is no such option", "--frobnicate")
        self.assert_refused("--time wants a value", "--time")
        self.assert_refused("--checkpoint FILE is wanted too", "--checkpoint-every", 3)
        self.assert_refused("steps: at most", "--time", 1e6, "--dt", 1e-9)
        self.assert_refused("its folder does not exist", "--csv", "nowhere/a.csv", process_counts=RANKS[1:2])
        self.assert_refused("memory", "--size", 16384, process_counts=RANKS[1:2])

    def test_help_is_printed_once(self):
        for ranks in RANKS[:2]:
            self.assertEqual(self.run_on(ranks, "--help").count("usage: navier_stokes"), 1)

    def test_checkpoints_that_cannot_be_gone_on_with(self):
        run = ("--size", 16, "--dt", 0.05)
        self.run_on(1, *run, "--time", 0.2, "--checkpoint", "state")
        whole = self.bytes_of("state")
        restart = ("--time", 1, "--restart", "state")
        self.assert_refused("no such file", *run, "--time", 1, "--restart", "none")
        self.assert_refused("--size 16", "--size", 20, "--dt", 0.05, *restart)
        self.assert_refused("--reynolds 100", *run, "--reynolds", 200, *restart, process_counts=RANKS[2:3])
        for damaged, part in (
            (b"not ours at all" * 100, "is no checkpoint"),
            (whole[:50], "is no checkpoint"),
            (whole[:-1], "bytes long, and whole it would be"),
            (whole[:60] + b"9" + whole[61:], "damaged in its first bytes"),
            (whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:], "damaged, as its checksums tell"),
            (whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:], "damaged, as its checksums tell"),
        ):
            (self.folder / "state").write_bytes(damaged)
            self.assert_refused(part, *run, *restart)
        self.assert_refused(part, *run, *restart, process_counts=RANKS[1:])


class Plots(NavierStokes):
    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not here")
    def test_a_plot_is_drawn(self):
        self.run_on(RANKS[-1], "--size", 16, "--time", 1, "--plot", "decay.svg")
        svg = (self.folder / "decay.svg").read_text()
        for part in ("Reynolds number 100", "dissipation", "energy", "time"):
            self.assertIn(part, svg)


if __name__ == "__main__":
    unittest.main()
