"""What signals do to the command is what they do to any program: SIGHUP ends it, and nohup keeps that off."""

import os
import pathlib
import signal
import subprocess
import time
import unittest
import uuid

from command import COMMAND, HAS_UCX, MPIEXEC, TIME_LIMIT_S

RUN = ("bench", "latency", "--transport", "ucx", "--sizes", "8:8", "--rounds", "1000000")


def ranks_with(mark):
    """The numbers of the command's processes that have `mark` in their environment."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().split(b"\0")
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:  # it has ended, or is another user's
            continue
        if mark in environment and line[0] == os.fsencode(COMMAND):
            found.append(int(entry.name))
    return found


def mask(process, name):
    for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1], 16)
    raise AssertionError(name)


@unittest.skipUnless(HAS_UCX and MPIEXEC, "over UCX alone")
class Signals(unittest.TestCase):
    def start(self, *prefix):
        mark = str(uuid.uuid4())
        process = subprocess.Popen(
            [MPIEXEC, "-n", "2", *prefix, COMMAND, *RUN],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PENSTOCK_TEST_MARK": mark}, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + TIME_LIMIT_S
        while time.monotonic() < deadline:
            ranks = ranks_with(f"PENSTOCK_TEST_MARK={mark}".encode())
            # UCX's own libraries are there once the transport is.
            if len(ranks) == 2 and all("libuct" in pathlib.Path(f"/proc/{rank}/maps").read_text() for rank in ranks):
                time.sleep(1)
                return process, ranks
            time.sleep(0.1)
        self.fail("the command has not begun")

    def test_hangup_ends_it(self):
        process, ranks = self.start()
        os.kill(ranks[0], signal.SIGHUP)
        self.assertNotEqual(process.wait(timeout=TIME_LIMIT_S), 0)

    def test_nohup_keeps_it_on(self):
        process, ranks = self.start("sh", "-c", 'trap "" HUP; exec "$0" "$@"')  # as nohup does
        for rank in ranks:
            self.assertNotEqual(mask(rank, "SigIgn") & 1 << (signal.SIGHUP - 1), 0)
            os.kill(rank, signal.SIGHUP)
        time.sleep(0.5)
        self.assertIsNone(process.poll())


if __name__ == "__main__":
    unittest.main()
