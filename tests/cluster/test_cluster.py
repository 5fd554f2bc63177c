#!/usr/bin/env python3
"""cluster.py: nodes reach one another, arguments that it cannot use are refused, and nothing is left however it ends.

CTest says what to run with: PENSTOCK_CLUSTER_SWITCH, and PENSTOCK_MPIEXEC (absent in a build without MPI).
"""

import collections
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

import nodes

HERE = pathlib.Path(__file__).resolve().parent
MPIEXEC = os.environ.get("PENSTOCK_MPIEXEC")
TIME_LIMIT_S = 60

# Node 1 hears a word from each of the others, which have sent it to all.
BROADCAST = """
import socket, subprocess, sys
mine = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
mine.bind(("", 5000))
mine.settimeout(20)
word = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); " \\
       "s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1); " \\
       "s.sendto(socket.gethostname().encode(), ('10.0.0.255', 5000))"
for node in sys.argv[2:]:
    subprocess.run([sys.argv[1], node, f'{sys.executable} -c "{word}"'], check=True)
print(" ".join(sorted(mine.recv(100).decode() for _ in sys.argv[2:])))
"""

# All nodes but the first send it a stream at once, more than the switch stores; it counts them up.
STREAMS = """
import socket, subprocess, sys, threading
server = socket.socket()
server.bind(("", 5000))
server.listen()
send = "import socket; s = socket.create_connection(('node1', 5000)); s.sendall(bytes(range(256)) * 8000)"
senders = [subprocess.Popen([sys.argv[1], node, f'{sys.executable} -c "{send}"']) for node in sys.argv[2:]]
whole = []
def take(connection):
    data = bytearray()
    while piece := connection.recv(1 << 16):
        data += piece
    whole.append(data == bytes(range(256)) * 8000)
threads = [threading.Thread(target=take, args=(server.accept()[0],)) for _ in senders]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(*whole)
"""


class Cluster(unittest.TestCase):
    """Each test tells the processes of its runs by a variable of the environment, and has a folder for what they leave."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.mark = f"PENSTOCK_CLUSTER_TEST={uuid.uuid4()}"
        name, value = self.mark.split("=")
        self.environment = {**os.environ, name: value, "TMPDIR": folder.name}

    def begin(self, *arguments):
        line = [sys.executable, "-B", HERE / "cluster.py", "--switch", os.environ["PENSTOCK_CLUSTER_SWITCH"], *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            line, env=self.environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
        )

    def run_to_end(self, *arguments):
        run = self.begin(*arguments)
        stdout, stderr = run.communicate(timeout=TIME_LIMIT_S)
        return run.returncode, stdout, stderr

    def left(self):
        """The processes that carry the mark."""
        found = []
        for place in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (place / "environ").read_bytes():
                    found.append((place / "cmdline").read_bytes())
            except OSError:  # it has ended, or is not ours
                pass
        return found

    def assert_nothing_is_left(self, devices, folders=0):
        for _ in range(100):
            if not self.left():
                break
            time.sleep(0.1)
        self.assertEqual(self.left(), [])
        # Devices and namespaces are held by processes alone; a scratch folder was another file system, which is gone.
        self.assertEqual(os.listdir("/sys/class/net"), devices)
        left = list(self.folder.iterdir())
        self.assertEqual((len(left), [list(folder.iterdir()) for folder in left]), (folders, [[]] * folders))

    def test_what_is_broadcast_reaches_all_nodes(self):
        others = ["node2", "node3", "node4"]
        status, stdout, stderr = self.run_to_end("--once", "--", sys.executable, "-c", BROADCAST, HERE / "on-node", *others)
        self.assertEqual((status, stdout.split()), (0, others), stderr)

    def test_streams_that_meet_arrive_whole(self):
        status, stdout, stderr = self.run_to_end(
            "--once", "--rate", "500Mbit", "--", sys.executable, "-c", STREAMS, HERE / "on-node", "node2", "node3", "node4"
        )
        self.assertEqual((status, stdout.split()), (0, ["True"] * 3), stderr)

    def test_nodes_have_their_names_devices_and_shared_memory_and_what_the_command_ends_with_is_told(self):
        look = f"hostname; ls /sys/class/net; touch /dev/shm/mine; {HERE}/on-node node2 'hostname; ls /dev/shm'; exit 7"
        status, stdout, stderr = self.run_to_end("--nodes", "2", "--account", "--once", "--", "sh", "-c", look)
        self.assertEqual((status, stdout.split()), (7, ["node1", "link0", "lo", "node2"]), stderr)
        self.assertIn("the switch passed on", stderr)

    def test_two_runs_at_once_do_not_meet(self):
        runs = [self.begin("--nodes", "2", "--once", "--", "sh", "-c", "sleep 1; cat /sys/class/net/link0/address") for _ in "12"]
        ends = [(run.communicate(timeout=TIME_LIMIT_S)[0].strip(), run.returncode) for run in runs]
        self.assertEqual(ends, [("02:00:00:00:00:00", 0)] * 2)

    def test_nothing_is_left(self):
        devices = os.listdir("/sys/class/net")
        # A process of another session, and one of another node, which no signal to the command would reach.
        outlive = f"setsid sleep 1000 & {HERE}/on-node node2 'setsid sleep 1000 &'; echo up; "
        for command, how, ends_with in (
            ("exit 0", None, 0),
            ("exit 3", None, 3),
            ("sleep 1000", signal.SIGINT, 130),
            ("sleep 1000", signal.SIGTERM, 143),
            ("sleep 1000", signal.SIGKILL, -signal.SIGKILL),
        ):
            with self.subTest(command=command, how=how):
                run = self.begin("--nodes", "2", "--once", "--", "sh", "-c", outlive + command)
                self.assertEqual(run.stdout.readline(), "up\n")
                if how is not None:
                    self.assertNotEqual(self.left(), [])
                    run.send_signal(how)
                self.assertEqual(run.wait(TIME_LIMIT_S), ends_with)
                run.stdout.close()
                run.stderr.close()
                self.assert_nothing_is_left(devices, folders=int(how == signal.SIGKILL))

    def test_a_command_that_takes_too_long_is_ended(self):
        devices = os.listdir("/sys/class/net")
        status, _, stderr = self.run_to_end("--nodes", "2", "--timeout", "1", "--once", "--", "sleep", "1000")
        self.assertEqual((status, stderr), (124, "cluster.py: ended the command after 1 s\n"))
        self.assert_nothing_is_left(devices)

    @unittest.skipUnless(MPIEXEC, "a build without MPI")
    def test_ranks_are_dealt_evenly_and_a_killed_one_ends_the_run(self):
        devices = os.listdir("/sys/class/net")
        arguments = ("--mpiexec", MPIEXEC, "--nodes", "3", "--ranks", "5", "--", "sh", "-c")
        status, stdout, stderr = self.run_to_end(*arguments, "hostname")
        dealt = collections.Counter(stdout.split())
        self.assertEqual((status, dealt), (0, {"node1": 2, "node2": 2, "node3": 1}), stderr)
        status, _, _ = self.run_to_end(*arguments, "[ $(hostname) != node2 ] || kill -KILL $$; sleep 1000")
        self.assertNotEqual(status, 0)
        self.assert_nothing_is_left(devices)

    def test_what_cannot_be_used_is_refused_in_one_line(self):
        for arguments, part in (
            ((), "no command"),
            (("--nodes", "0", "true"), "'0'"),
            (("--nodes", "251", "true"), "'251'"),
            (("--ranks", "none", "true"), "'none'"),
            (("--rate", "1000", "true"), "'1000'"),
            (("--rate", "0Gbit", "true"), "'0Gbit'"),
            (("--delay", "1hour", "true"), "'1hour'"),
            (("--mtu", "100", "true"), "'100'"),
            (("--frobnicate", "true"), "--frobnicate"),
            (("no-such-program",), "'no-such-program'"),
            (("--switch", "no-such-switch", "true"), "no-such-switch"),
            (("--mpiexec", "/bin/true", "true"), "/bin/true"),
            (("--once", "--ranks", "2", "true"), "--once"),
        ):
            with self.subTest(arguments=arguments):
                status, stdout, stderr = self.run_to_end(*arguments)
                self.assertEqual((status, stdout, len(stderr.splitlines())), (2, "", 1), stderr)
                self.assertIn(part, stderr)

    def test_a_machine_that_makes_no_nodes_is_told_why(self):
        status, _, stderr = self.run_to_end("--switch", "/bin/false", "--once", "true")
        self.assertEqual(status, nodes.REFUSED)
        self.assertIn("no cluster can be made on this machine: the switch", stderr)
        self.environment["PATH"] = str(self.folder)
        (self.folder / "true").symlink_to("/bin/true")
        status, _, stderr = self.run_to_end("--once", "true")
        self.assertEqual(status, nodes.REFUSED)
        self.assertIn("there is no 'unshare'", stderr)


def main():
    line = [sys.executable, "-B", HERE / "cluster.py", "--switch", os.environ["PENSTOCK_CLUSTER_SWITCH"], "--once", "true"]
    if subprocess.run(line, stdin=subprocess.DEVNULL, check=False).returncode == nodes.REFUSED:
        sys.exit(nodes.REFUSED)
    unittest.main()


if __name__ == "__main__":
    main()
