"""The command as users start it: alone or under mpiexec, with its environment, a time limit, and what it left behind.

CTest says what to run: PENSTOCK_COMMAND, PENSTOCK_MPIEXEC (empty in a build without MPI), and by PENSTOCK_HAS_UCX and
PENSTOCK_HAS_FFTW whether the transport ucx and FFTW are built in.
"""

import functools
import os
import pathlib
import pty
import re
import subprocess
import threading
import tempfile
import unittest

COMMAND = os.environ["PENSTOCK_COMMAND"]
MPIEXEC = os.environ.get("PENSTOCK_MPIEXEC", "")
HAS_UCX = os.environ.get("PENSTOCK_HAS_UCX", "0") == "1"
HAS_GEMM = os.environ.get("PENSTOCK_HAS_GEMM", "0") == "1"
HAS_PAGES = os.environ.get("PENSTOCK_HAS_PAGES", "0") == "1"
# What --local takes here.
LOCAL_TRANSFORMS = ("penstock", *("fftw",) * (os.environ.get("PENSTOCK_HAS_FFTW", "0") == "1"))
IS_SANITIZED = os.environ.get("PENSTOCK_IS_SANITIZED", "0") == "1"
needs_a_small_process = unittest.skipIf(IS_SANITIZED, "a sanitizer's memory is more than these budgets")
# Of a machine that is known nothing is measured.
MACHINE = pathlib.Path(__file__).parents[2] / "machines" / "default.toml"
KNOWN_MACHINE = ("--machine", str(MACHINE))
# Between processes of one node.
TRANSPORTS = ("shm", "mpi", "rma") * bool(MPIEXEC) + ("ucx",) * HAS_UCX
# What --isa takes here.
FLAGS = set(re.findall(r"\w+", pathlib.Path("/proc/cpuinfo").read_text()))
INSTRUCTION_SETS = (
    "portable",
    *("avx2",) * ({"avx2", "fma"} <= FLAGS),
    *("avx512",) * ({"avx512f", "avx512bw", "avx512vl", "avx512dq"} <= FLAGS),
)
# A calibration with a device takes a minute and a half alone, and many with ThreadSanitizer.
TIME_LIMIT_S = 600 if IS_SANITIZED else 300


@functools.cache
def has_device():
    """Whether --device has any: the system decides."""
    line = [COMMAND, "fft", "--device", "any", "--size", "1x1x1", "--reps", "1"]
    return "has no device" not in subprocess.run(line, capture_output=True, text=True, check=False).stderr


@functools.cache
def has_device_blas():
    """Whether gemm --device has any, and a BLAS for it."""
    if not (HAS_GEMM and has_device()):
        return False
    line = [COMMAND, "gemm", "--device", "any", "--size", "1", "--type", "float32", "--reps", "1"]
    return "is not found" not in subprocess.run(line, capture_output=True, text=True, check=False).stderr


class Result:
    """How a run ended, and the lines that the command itself, not the launcher, wrote to standard error."""

    def __init__(self, completed):
        self.status = completed.returncode
        self.stdout = completed.stdout
        self.stderr = completed.stderr
        self.lines = [line for line in completed.stderr.splitlines() if line.startswith("penstock:")]


class CommandTest(unittest.TestCase):
    """Each test has a folder of its own, in which the command runs, and a cache folder outside of it."""

    # Where the folders are made; None: where the system has temporary ones.
    parent = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=self.parent)
        self.addCleanup(folder.cleanup)
        self.cache = pathlib.Path(folder.name) / "cache"
        self.folder = pathlib.Path(folder.name) / "run"
        self.folder.mkdir()

    def start(self, line, stdout=subprocess.PIPE, environment=None):
        completed = subprocess.run(
            line,
            cwd=self.folder,
            env={**os.environ, "XDG_CACHE_HOME": str(self.cache), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
        )
        return Result(completed)

    def start_on_terminal(self, line, environment=None, streams=("stdout", "stderr")):
        """The status, and what a terminal of 80 columns, which `streams` are, and a pipe, which the others are, got."""
        master, slave = pty.openpty()
        shown = []

        def read():
            try:
                while text := os.read(master, 65536):
                    shown.append(text)
            except OSError:  # Linux: nothing has it open any more
                pass

        reader = threading.Thread(target=read)
        with subprocess.Popen(
            line,
            cwd=self.folder,
            env={**os.environ, "XDG_CACHE_HOME": str(self.cache), "TERM": "xterm", "NO_COLOR": "", **(environment or {})},
            stdin=subprocess.DEVNULL,
            **{name: slave if name in streams else subprocess.PIPE for name in ("stdout", "stderr")},
        ) as process:
            os.close(slave)
            reader.start()
            piped = b"".join(text for text in process.communicate(timeout=TIME_LIMIT_S) if text)
        reader.join()
        os.close(master)
        return process.returncode, b"".join(shown).decode().replace("\r\n", "\n"), piped.decode()

    def run_alone(self, *arguments):
        return self.start([COMMAND, *arguments])

    def run_on(self, processes, *arguments):
        """One process without a launcher, several with it."""
        if processes == 1:
            return self.run_alone(*arguments)
        return self.start([MPIEXEC, "-n", str(processes), COMMAND, *arguments])

    def run_each(self, *argument_lists):
        """A process for each list of arguments, all in one world."""
        line = [MPIEXEC]
        for i, arguments in enumerate(argument_lists):
            line += [":"] * (i > 0) + ["-n", "1", COMMAND, *arguments]
        return self.start(line)

    def left_behind(self):
        return sorted(path.name for path in self.folder.iterdir())


def process_counts():
    """One process, and where there is MPI, two and three."""
    return [1, 2, 3] if MPIEXEC else [1]
