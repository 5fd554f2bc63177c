#!/usr/bin/env python3
"""The command on a system that fails: each call on files, each allocation and each moment for a signal in turn.

Whatever fails, no wrong file ends with exit 0: outputs are as they were, absent, or whole; a failure is one sentence on
standard error and no signal; a run that can go on does so, with the same bytes; nothing hangs.

PENSTOCK_FAULTS_RUNS bounds the runs of each case and kind (0: every call), PENSTOCK_FAULTS_SEED repeats them.
`test_faults.py --all` is the whole campaign.
"""

import array
import collections
import concurrent.futures
import errno
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

COMMAND = os.environ["PENSTOCK_COMMAND"]
INJECT = os.environ["PENSTOCK_FAULTS"]
RUNS = int(os.environ.get("PENSTOCK_FAULTS_RUNS", "4"))
SEED = int(os.environ.get("PENSTOCK_FAULTS_SEED", time.time_ns() % 1000000))
MACHINE = pathlib.Path(__file__).parents[2] / "machines" / "default.toml"
STORAGE = '\n[[node.memory_levels]]\nname = "storage"\ncapacity_bytes = 1_000_000_000_000\n'
STORAGE += "bandwidth_bytes_per_s = 1e9\nlatency_s = 1e-4\n"
TIME_LIMIT_S = 10
FORMER = b"what was there before\n"

# What each call may fail with; 0: half of the bytes.
FAULTS = {
    "open": [errno.EMFILE, errno.EACCES, errno.EINTR],
    "pread": [errno.EIO, errno.EINTR, 0],
    "pwrite": [errno.ENOSPC, errno.EIO, errno.EINTR, 0],
    "fsync": [errno.EIO, errno.EINTR],
    "ftruncate": [errno.EIO, errno.EINTR],
    "fallocate": [errno.ENOSPC, errno.EOPNOTSUPP, errno.EINTR],
    "rename": [errno.EACCES],
    "unlink": [errno.EACCES],
    "flock": [errno.ENOLCK, errno.EWOULDBLOCK, errno.EINTR],
    "mkdir": [errno.EACCES],
    "mmap": [errno.ENOMEM],
    "new": [errno.ENOMEM],
}
# Wisdom and choices, kept by version.
STORE = re.compile(r"cache/penstock/(wisdom|plans)-[0-9.]+")
HARMLESS = {errno.EINTR, 0}  # work goes on as if nothing had happened
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]

Ending = collections.namedtuple("Ending", "status lines seconds")


def npy(shape, dtype, numbers):
    text = repr({"descr": dtype, "fortran_order": False, "shape": shape})
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + array.array("d", numbers).tobytes()


def noise(count):
    chance = random.Random(count)
    return [chance.uniform(-1, 1) for _ in range(count)]


class Case:
    """A command with small files. `outputs` have the same bytes in each run, `reports` are JSON with the same keys."""

    def __init__(self, line, outputs, reports=(), goes_on=False, begun=()):
        self.line = [COMMAND, *line]
        self.outputs = outputs
        self.reports = reports
        self.goes_on = goes_on
        self.begun = begun  # files of a run that was killed, once made


FFT = ["fft", "--machine", "machine.toml", "--threads", "1", "--effort", "estimate"]
IN_FILES = ["fft", "--machine", "machine.toml", "--threads", "1", "--engine", "threads", "--input", "f.npy"]
PRODUCT = ["gemm", "--machine", "machine.toml", "--threads", "1", "--engine", "threads", "--a", "a.npy", "--b", "b.npy"]
CASES = {
    "fft in memory": Case(
        [*FFT, "--input", "f.npy", "--no-wisdom", "--reps", "1"]
        + ["--output", "g.npy", "--json", "r.json", "--spectrum", "s.txt"],
        ["g.npy", "s.txt"],
        ["r.json"],
    ),
    "fft that keeps wisdom": Case(
        ["fft", "--machine", "machine.toml", "--threads", "1", "--size", "4x4x4", "--reps", "1", "--planning", "measure"]
        + ["--effort", "measure", "--json", "r.json"],
        [],
        ["r.json"],
    ),
    "fft in files": Case(
        [*IN_FILES, "--backward", "--output", "g.npy", "--json", "r.json"], ["g.npy"], ["r.json"], True
    ),
    "fft in files that goes on": Case([*IN_FILES, "--backward", "--output", "g.npy"], ["g.npy"], [], True, ["g.npy"]),
    "gemm in files": Case([*PRODUCT, "--c", "c.npy", "--json", "r.json"], ["c.npy"], ["r.json"], True),
    "gemm in files that goes on": Case([*PRODUCT, "--c", "c.npy"], ["c.npy"], [], True, ["c.npy"]),
    "model": Case(["model", "fft", "--machine", "machine.toml", "--json", "r.json"], [], ["r.json"]),
}


class Run:
    """One run in a folder of its own, and what must hold of it."""

    def __init__(self, root, case):
        self.case = case
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=root))
        (self.folder / "machine.toml").write_text(MACHINE.read_text() + STORAGE)
        (self.folder / "f.npy").write_bytes(npy((6, 5, 4), "<c16", noise(240)))
        (self.folder / "a.npy").write_bytes(npy((40, 30), "<f8", noise(1200)))
        (self.folder / "b.npy").write_bytes(npy((30, 20), "<f8", noise(600)))
        for path in self.folder.iterdir():
            os.utime(path, (1, 1))  # as in every folder: journals know their inputs by it
        self.inputs = {path.name for path in self.folder.iterdir()}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def start(self, environment):
        return subprocess.Popen(
            self.case.line,
            cwd=self.folder,
            env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, process):
        begin_s = time.monotonic()
        try:
            _, text = process.communicate(timeout=TIME_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return Ending(None, ["hangs"], TIME_LIMIT_S)
        lines = [line for line in text.splitlines() if not line.startswith("penstock: note:")]
        return Ending(process.returncode, lines, time.monotonic() - begin_s)

    def run(self, **environment):
        return self.finish(self.start(environment))

    def prepare(self, has_former):
        """Outputs of an earlier run, and what a killed one has left."""
        if has_former:
            for name in [*self.case.outputs, *self.case.reports]:
                (self.folder / name).write_bytes(FORMER)

    def contents(self):
        return {name: self.read(name) for name in [*self.case.outputs, *self.case.reports]}

    def read(self, name):
        path = self.folder / name
        return path.read_bytes() if path.exists() else None

    def left_behind(self):
        """Beside inputs and results, in the cache folder as well."""
        kept = self.inputs | set(self.case.outputs) | set(self.case.reports)
        names = [str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()]
        return sorted(name for name in names if name not in kept and not STORE.fullmatch(name))


class Reference:
    """What a run without faults makes, and how many calls it makes."""

    def __init__(self, root, case):
        with Run(root, case) as run:
            ending = run.run(LD_PRELOAD=INJECT, FAULT_COUNTS="counts")
            assert ending.status == 0 and not ending.lines, ending
            self.counts = dict(line.split() for line in (run.folder / "counts").read_text().splitlines())
            self.counts = {call: int(count) for call, count in self.counts.items()}
            self.outputs = {name: run.read(name) for name in case.outputs}
            self.keys = {name: keys_of(run.read(name)) for name in case.reports}
            self.seconds = ending.seconds

    def problem(self, name, content):
        """What is wrong with a result that should be whole."""
        if name in self.outputs:
            return None if content == self.outputs[name] else f"{name} has other bytes"
        return None if content is not None and keys_of(content) == self.keys[name] else f"{name} is not whole"


def keys_of(content):
    try:
        return sorted(json.loads(content))
    except (TypeError, ValueError):
        return None


def problems_of(run, reference, ending, is_harmless, is_killed=False, can_remove=True):
    """What of the promises does not hold."""
    case = run.case
    found = []
    contents = run.contents()
    if ending.status is None:
        return ["hangs"]
    if ending.status == 0:
        found += [text for name in contents if (text := reference.problem(name, contents[name]))]
        found += [f"{name} is left" for name in run.left_behind() if can_remove]
        found += [f"says '{line}'" for line in ending.lines]
        return found
    if is_harmless:
        found.append(f"ends with {ending.status}: {ending.lines}")
    if ending.status < 0 and not is_killed:
        found.append(f"dies of signal {-ending.status}: {ending.lines[:2]}")
    elif not is_killed and (len(ending.lines) != 1 or not ending.lines[0].startswith("penstock: ")):
        found.append(f"says not one line: {ending.lines[:3]}")
    for name, content in contents.items():
        if content is not None and content != FORMER and reference.problem(name, content):
            found.append(f"{name} is neither the former nor the whole new one")
    if not case.goes_on and not is_killed and can_remove:
        found += [f"{name} is left" for name in run.left_behind()]
    return found


def goes_on(run, reference):
    """After a failure, without faults."""
    ending = run.run()
    if ending.status != 0:
        return [f"then ends with {ending.status}: {ending.lines}"]
    return [f"then {text}" for text in problems_of(run, reference, ending, True)]


class Campaign:
    def __init__(self, root):
        self.root = root
        self.chance = random.Random(SEED)
        self.outcomes = collections.Counter()
        self.problems = collections.defaultdict(list)
        self.lock = threading.Lock()
        self.references = {name: Reference(root, case) for name, case in CASES.items()}
        self.begun = {}

    def count(self, kind, ending, problems, text):
        outcome = "hang" if ending.status is None else "done" if ending.status == 0 else "refused"
        with self.lock:
            self.outcomes[kind, "wrong" if problems else outcome] += 1
            for problem in problems:
                self.problems[problem].append(text)

    def make_begun(self, run):
        """Files of the same work, ended by a full disk half way."""
        if run.case.begun:
            writes = self.references[self.name_of(run.case)].counts["pwrite"]
            ending = run.run(
                LD_PRELOAD=INJECT, FAULT_CALL="pwrite", FAULT_NUMBER=str(max(writes // 2, 4)), FAULT_ERROR="28",
                FAULT_LASTS="1",
            )
            assert ending.status == 1, ending

    @staticmethod
    def name_of(case):
        return next(name for name, other in CASES.items() if other is case)

    def inject(self, name, call, error, number, lasts):
        case = CASES[name]
        with Run(self.root, case) as run:
            run.prepare(number % 2 == 1)
            self.make_begun(run)
            environment = {"FAULT_CALL": call, "FAULT_NUMBER": str(number), "FAULT_ERROR": str(error)}
            ending = run.run(LD_PRELOAD=INJECT, **environment, **({"FAULT_LASTS": "1"} if lasts else {}))
            # What another process has locked is that one's.
            can_remove = call != "unlink" and (call, error) != ("flock", errno.EWOULDBLOCK)
            problems = problems_of(run, self.references[name], ending, error in HARMLESS, can_remove=can_remove)
            if not problems and ending.status != 0 and case.goes_on:
                problems = goes_on(run, self.references[name])
            what = errno.errorcode.get(error, "half") + (" from then on" if lasts else "")
            self.count((call, what), ending, problems, f"{name}: {call} {number} {what}")

    def send(self, name, which, delay_s):
        case = CASES[name]
        with Run(self.root, case) as run:
            run.prepare(False)
            self.make_begun(run)
            process = run.start({})
            time.sleep(delay_s)
            process.send_signal(which)
            ending = run.finish(process)
            problems = problems_of(run, self.references[name], ending, False, ending.status == -which)
            if not problems and ending.status != 0:
                problems = goes_on(run, self.references[name])
            self.count(("signal", which.name), ending, problems, f"{name}: {which.name} after {delay_s:.4f} s")

    def choose(self, count, runs):
        return range(1, count + 1) if runs == 0 or count <= runs else sorted(self.chance.sample(range(1, count + 1), runs))

    def tasks(self, runs):
        for name, reference in self.references.items():
            for call, errors in FAULTS.items():
                for error in errors:
                    for number in self.choose(reference.counts[call], runs):
                        yield self.inject, name, call, error, number, False
            for number in self.choose(reference.counts["pwrite"], runs):
                yield self.inject, name, "pwrite", errno.ENOSPC, number, True
            for which in SIGNALS:
                for _ in range(runs or 50):
                    yield self.send, name, which, self.chance.uniform(0, 1.2 * reference.seconds)

    def run(self, runs):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for future in [pool.submit(*task) for task in self.tasks(runs)]:
                future.result()
        for (kind, what), outcome in sorted({key for key, _ in self.outcomes.items()}, key=str):
            print(f"{kind:10} {what:24} {outcome:8} {self.outcomes[(kind, what), outcome]}")
        for problem, where in sorted(self.problems.items(), key=lambda each: -len(each[1])):
            print(f"{len(where):5} times: {problem}\n      e.g. {'; '.join(where[:3])}")


class Faults(unittest.TestCase):
    def test_whatever_fails_no_wrong_file_ends_with_success(self):
        runs = 0 if WANTS_ALL else RUNS
        parent = "/dev/shm" if os.path.isdir("/dev/shm") else None
        with tempfile.TemporaryDirectory(dir=parent) as root:
            campaign = Campaign(root)
            print(f"seed {SEED}, {runs or 'all'} of each; {sum(1 for _ in campaign.tasks(runs))} runs", flush=True)
            campaign.chance = random.Random(SEED)
            campaign.run(runs)
        self.assertEqual(list(campaign.problems), [])

    def test_a_small_address_space_is_one_line(self):
        """Libraries below abort or try for ever where they get none. The least that is tried is what the system needs
        to load them all and to come to `main`, which differs by MPI."""

        def limited(mib, line, folder=None):
            return subprocess.run(
                ["sh", "-c", f'ulimit -v {mib * 1024}; exec "$0" "$@"', *line],
                cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60, check=False)

        least = next(mib for mib in range(64, 257, 16) if limited(mib, [COMMAND, "--version"]).returncode == 0)
        for name in ("fft in memory", "fft in files", "gemm in files"):
            for mib in range(least, 721, 40 if "gemm" in name else 16):
                with self.subTest(name=name, mib=mib), Run(tempfile.gettempdir(), CASES[name]) as run:
                    done = limited(mib, CASES[name].line, run.folder)
                    self.assertIn(done.returncode, (0, 1, 2), done.stderr)
                    self.assertEqual(len(done.stderr.splitlines()), min(done.returncode, 1), done.stderr)

    def test_a_standard_output_that_is_full_is_one_line(self):
        for arguments in (["--version"], ["model", "fft"], ["fft", "--size", "4x4x4", "--json", "-"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 1, done)
            self.assertEqual(done.stderr, f"penstock: cannot write to standard output: {os.strerror(errno.ENOSPC)}\n")


WANTS_ALL = "--all" in sys.argv
if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--all"], verbosity=2)
