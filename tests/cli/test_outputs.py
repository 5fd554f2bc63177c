#!/usr/bin/env python3
"""What the command writes is its own and whole, whoever else writes at the same time, wherever the path leads, and
however the run ends.

PENSTOCK_TEST_PAIRS says how many overlapping pairs of runs are tried (12); PENSTOCK_TEST_SEED repeats them.
"""

import json
import os
import random
import signal
import subprocess
import time
import unittest

import command
import file_runs
import npy_files

PAIRS = int(os.environ.get("PENSTOCK_TEST_PAIRS", "12"))
SIZE = 64  # of a cube: its transform takes 4 MiB, in passes over files with little memory some tenths of a second
IN_FILES = ("--memory", "24MiB")


class Outputs(file_runs.FileRunTest):
    def write_field(self, name, seed, size=SIZE):
        chance = random.Random(seed)
        row = [chance.uniform(-1, 1) for _ in range(2 * size)]
        with (self.folder / name).open("wb") as file:
            file.write(npy_files.header((size,) * 3, "<c16"))
            for plane in range(size):
                shift = 2 * (plane % size)
                npy = row[shift:] + row[:shift]
                file.write(b"".join(npy_files.struct.pack(f"<{len(npy)}d", *npy) for _ in range(size)))

    def begin(self, *arguments, processes=1, **settings):
        line = [command.COMMAND, *arguments]
        if processes > 1:
            line = [command.MPIEXEC, "-n", str(processes), *line]
        return subprocess.Popen(
            line,
            cwd=self.folder,
            env={**os.environ, "XDG_CACHE_HOME": str(self.cache)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **settings,
        )

    def fft(self, field, output, in_files=False, *more):
        memory = (*IN_FILES, "--machine", str(self.machine)) if in_files else ("--no-wisdom",)
        return ("fft", "--input", field, "--output", output, "--threads", "1", *memory, *more)

    def run_well(self, *arguments):
        result = self.run_alone(*arguments)
        self.assertEqual(result.status, 0, result.stderr)
        return result

    def read(self, name):
        return (self.folder / name).read_bytes()

    def wait_for(self, path, process):
        """Until the run has made the file, or ended."""
        while not path.exists() and process.poll() is None:
            time.sleep(0.002)

    def test_runs_that_overlap_each_have_their_own_data_or_say_that_they_have_none(self):
        expected = {}
        for field in ("p", "q"):
            self.write_field(f"{field}.npy", field, SIZE if PAIRS <= 50 else 96)
            for in_files in (False, True):
                self.run_well(*self.fft(f"{field}.npy", "alone.npy", in_files))
                expected[field, in_files] = self.read("alone.npy")
        chance = random.Random(file_runs.SEED)
        told = {0: 0, 1: 0, 2: 0}
        for pair in range(PAIRS):
            kinds = [(field, chance.random() < 0.5, chance.choice((1, 1, command.process_counts()[-1]))) for field in "pq"]
            with self.subTest(seed=file_runs.SEED, pair=pair, kinds=kinds):
                runs = []
                for field, in_files, processes in kinds:
                    arguments = self.fft(f"{field}.npy", "k.npy", in_files)
                    runs.append(self.begin(*arguments, processes=1 if in_files else processes))
                    time.sleep(chance.choice((0, 0, 0.02, 0.1)))
                found = []  # as the output is when a run has ended, the other may still run
                for run in runs:
                    _, errors = run.communicate(timeout=60)
                    told[run.returncode] += 1
                    if run.returncode != 0:
                        self.assertRegex(errors, "another process (writes|is at work on)|can be resumed")
                ended = [(kind[0], kind[1]) for kind, run in zip(kinds, runs) if run.returncode == 0]
                self.assertTrue(ended)
                self.assertTrue(any(self.is_same(self.read("k.npy"), expected[key]) for key in ended))
                self.assertEqual([name for name in self.left_behind() if name.startswith("k.npy")], ["k.npy"])
                (self.folder / "k.npy").unlink()
        if PAIRS > 50:
            print(f"{PAIRS} pairs: {told}")

    def is_same(self, first, second):
        """Up to rounding, which differs between numbers of ranks."""
        if len(first) != len(second) or first[:128] != second[:128]:
            return False
        pairs = zip(memoryview(first[128:]).cast("d")[::97], memoryview(second[128:]).cast("d")[::97])
        return all(abs(a - b) < 1e-9 for a, b in pairs)

    def test_texts_that_overlap_are_whole(self):
        for kind in (("fft", "--size", "32x32x32"), ("model", "plan")):
            runs = [self.begin(*kind, "--json", "out.json") for _ in range(4)]
            ended = [run.communicate(timeout=60) and run.returncode for run in runs]
            self.assertIn(0, ended, kind)
            json.loads((self.folder / "out.json").read_text())
            self.assertEqual(self.left_behind(), ["out.json"])
            (self.folder / "out.json").unlink()

    def test_a_link_stays_and_what_it_names_is_written(self):
        (self.folder / "there").mkdir()
        self.write_field("f.npy", "f")
        for in_files in (False, True):
            for name in ("k.npy", "k.json"):
                (self.folder / name).unlink(missing_ok=True)
                (self.folder / name).symlink_to(f"there/{name}")
            for _ in range(2):  # one that is not there yet, one that is
                self.run_well(*self.fft("f.npy", "k.npy", in_files, "--json", "k.json"))
                self.assertTrue((self.folder / "k.npy").is_symlink())
                self.assertEqual(sorted(path.name for path in (self.folder / "there").iterdir()), ["k.json", "k.npy"])
                self.assertFalse((self.folder / "there/k.npy").is_symlink())
            for name in ("k.npy", "k.json"):
                (self.folder / "there" / name).unlink()

    def test_what_is_no_regular_file_is_written_as_it_is_or_refused(self):
        self.write_field("f.npy", "f")
        os.mkfifo(self.folder / "pipe")
        before = os.stat("/dev/null"), os.readlink("/dev/stdout")
        for in_files in (False, True):
            for path in ("/dev/stdout", "/dev/null", "pipe", "."):
                result = self.run_alone(*self.fft("f.npy", path, in_files))
                self.assertEqual(result.status, 2, path)
                self.assertEqual(len(result.lines), 1)
                self.assertIn("not a regular file", result.lines[0])
        result = self.run_well("model", "plan", "--json", "/dev/stdout")
        json.loads(result.stdout[result.stdout.index("{") :])
        with (self.folder / "both.txt").open("w") as out:
            self.start([command.COMMAND, "fft", "--size", "8x8x8", "--json", "/dev/fd/1"], stdout=out)
        text = (self.folder / "both.txt").read_text()
        self.assertIn("Forward", text[: text.index("{")])
        json.loads(text[text.index("{") :])
        self.run_well("fft", "--size", "8x8x8", "--json", "/dev/null")
        self.assertEqual((os.stat("/dev/null").st_rdev, os.readlink("/dev/stdout")), (before[0].st_rdev, before[1]))

    @command.needs_a_small_process
    def test_a_run_in_memory_leaves_alone_what_an_interrupted_run_goes_on_with(self):
        self.write_field("f.npy", "f", 96)
        line = self.fft("f.npy", "k.npy", True)
        self.run_well(*line)
        expected = self.read("k.npy")
        self.assertTrue(self.interrupt(signal.SIGKILL, line, "k.npy.scratch"))
        left = self.left_behind()
        result = self.run_alone(*self.fft("f.npy", "k.npy"))
        self.assertEqual(result.status, 2)
        for file in ("k.npy.journal", "k.npy.part"):
            self.assertIn(file, result.lines[0])
        self.assertEqual(self.left_behind(), left)
        self.run_well(*line)
        self.assertEqual(self.read("k.npy"), expected)
        self.assertEqual(self.left_behind(), ["f.npy", "k.npy"])

    def interrupt(self, kind, line, once_there, processes=1):
        """Runs the command anew, sends it a signal some moments after it has made a file, until it is caught in its
        work; how it ended, and its own lines on standard error."""
        for _ in range(20):
            process = self.begin(*line, processes=processes)
            self.wait_for(self.folder / once_there, process)
            time.sleep(0.01)
            process.send_signal(kind)
            _, errors = process.communicate(timeout=60)
            if process.returncode != 0:
                return process.returncode, [one for one in errors.splitlines() if one.startswith("penstock:")]
        return None

    def test_signals_remove_drafts_of_runs_in_memory(self):
        self.write_field("f.npy", "f", 96)
        # Longer than the second that Open MPI's launcher waits before it signals the ranks.
        line = self.fft("f.npy", "k.npy", False, "--json", "k.json", "--reps", "4000")
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(kind=kind):
                status, lines = self.interrupt(kind, line, "k.json.part")
                self.assertEqual(status, -kind)
                self.assertEqual(lines, [f"penstock: interrupted by {signal.Signals(kind).name}"])
                self.assertEqual(self.left_behind(), ["f.npy"])
        if command.MPIEXEC:
            status, _ = self.interrupt(signal.SIGTERM, line, "k.npy.part", processes=2)
            self.assertNotEqual(status, 0)
            for _ in range(100):  # a launcher may end before its ranks
                if self.left_behind() == ["f.npy"]:
                    break
                time.sleep(0.05)
            self.assertEqual(self.left_behind(), ["f.npy"])

    def test_signals_that_are_ignored_stay_ignored(self):
        self.write_field("f.npy", "f", 96)
        process = self.begin(
            *self.fft("f.npy", "k.npy"), preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
        )
        self.wait_for(self.folder / "k.npy.part", process)
        process.send_signal(signal.SIGHUP)
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (0, ""))

    @command.needs_a_small_process
    def test_a_signal_says_how_work_is_resumed(self):
        self.write_field("the field.npy", "f", 96)
        line = self.fft("the field.npy", "k.npy", True)
        self.run_well(*line)
        expected = self.read("k.npy")
        (self.folder / "k.npy").unlink()
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            status, lines = self.interrupt(kind, line, "k.npy.scratch")
            self.assertEqual(status, -kind)
            self.assertEqual(len(lines), 1)
            self.assertIn(f"interrupted by {signal.Signals(kind).name}", lines[0])
            if "resumes it: penstock " in lines[0]:
                resuming = lines[0].split("resumes it: penstock ")[1]
                self.assertIn("'the field.npy'", resuming)
                again = subprocess.run(
                    f"{command.COMMAND} {resuming}", shell=True, cwd=self.folder, stdout=subprocess.DEVNULL, check=False
                )
                self.assertEqual(again.returncode, 0)
                self.assertEqual(self.read("k.npy"), expected)
            (self.folder / "k.npy").unlink(missing_ok=True)

    @command.needs_a_small_process
    def test_a_change_of_one_element_is_noticed_where_that_is_asked_for(self):
        self.write_field("f.npy", "f", 96)
        line = self.fft("f.npy", "k.npy", True, "--verify-input")
        self.run_well(*line)
        (self.folder / "k.npy").unlink()
        self.assertTrue(self.interrupt(signal.SIGKILL, line, "k.npy.scratch"))
        times = os.stat(self.folder / "f.npy")
        with (self.folder / "f.npy").open("r+b") as file:
            file.seek(128 + 16 * 5000 + 3)  # between the samples
            file.write(b"\x55")
        os.utime(self.folder / "f.npy", ns=(times.st_atime_ns, times.st_mtime_ns))
        result = self.run_alone(*line)
        self.assertEqual(result.status, 2)
        self.assertIn("'f.npy' is not as it was", result.lines[0])

    def test_wisdom_of_another_version_stays(self):
        folder = self.cache / "penstock"
        folder.mkdir(parents=True)
        others = {"wisdom": "# penstock wisdom 0.0.1\n", "wisdom-99.0.0": "# penstock wisdom 99.0.0\n"}
        for name, text in others.items():
            (folder / name).write_text(text)
        self.assertEqual(self.run_well("fft", "--size", "30x21x22", "--effort", "measure").lines, [])
        for name, text in others.items():
            self.assertEqual((folder / name).read_text(), text)


if __name__ == "__main__":
    unittest.main()
