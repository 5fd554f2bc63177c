#!/usr/bin/env python3
"""Runs an MPI program on a cluster that exists while it runs: network namespaces of this machine are its nodes.

    tests/cluster/cluster.py --nodes 2 --rate 1Gbit --delay 30us -- build/release/penstock bench latency --fit

Each node has a name, a network device, processes and shared memory of its own; all share this machine's files. A switch
(switch.cpp) joins them with wires of the given rate and delay. Wherever it ends (well, badly, by Ctrl-C, by kill -9), the
kernel ends all of its processes, and with them goes the rest.

It ends as the command does; with 2 for arguments that it cannot use, 77 where this machine does not let it make nodes, 124
where the command took longer than --timeout.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import launchers
import nodes

UNUSABLE = 2
TIMED_OUT = 124
SOURCE = pathlib.Path(__file__).resolve().parents[2]
BITS = {"bit": 1, "kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9}
NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def error(self, message):
        print(f"{self.prog}: {message}", file=sys.stderr)
        sys.exit(UNUSABLE)


def quantity(units, most):
    """A number with one of the units, as a whole number of the unit that is 1."""

    def parse(text):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([a-zA-Z]+)", text)
        value = round(float(match[1]) * units[match[2]]) if match and match[2] in units else 0
        if not 1 <= value <= most:
            example = f"30{list(units)[1]}"
            raise argparse.ArgumentTypeError(f"'{text}' is no number with a unit ({', '.join(units)}) as in {example}")
        return value

    return parse


def rate(text):
    return 0 if text == "unlimited" else quantity(BITS, 10**12)(text)


def delay(text):
    return 0 if text == "0" else quantity(NANOSECONDS, 10 * NANOSECONDS["s"])(text)


def count(least, most):
    def parse(text):
        if not re.fullmatch(r"\d{1,9}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"'{text}' is no number from {least} to {most}")
        return int(text)

    return parse


def parse_arguments():
    parser = Parser(
        prog="cluster.py",
        usage="%(prog)s [options] [--] COMMAND [ARGUMENT...]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--nodes", type=count(1, nodes.MOST), default=4, metavar="N", help="how many nodes (4)")
    add("--ranks", type=count(1, 10000), metavar="N", help="how many ranks in all, dealt evenly to the nodes (one each)")
    add("--rate", type=rate, default="1Gbit", help="of each node's wire, both ways at once: 100Mbit, or unlimited (1Gbit)")
    add("--delay", type=delay, default="30us", help="from node to node, one way: 10us, 1ms, 0 (30us)")
    add("--mtu", type=count(576, 65521), default=1500, metavar="BYTES", help="the most that a frame carries (1500)")
    add("--mpiexec", default="mpiexec", metavar="PROGRAM", help="of Open MPI or MPICH (mpiexec)")
    add("--once", action="store_true", help="run COMMAND once, on node1, without MPI: a shell, ping; `on-node` reaches others")
    add("--priority", action="store_true", help="let the ranks run before all else on this machine (chrt): for timing")
    add("--timeout", type=count(1, 10**6), metavar="SECONDS", help="end the command then (never)")
    add("--account", action="store_true", help="tell at the end what the switch did, and how late it was")
    add("--switch", metavar="PROGRAM", help="the switch (the one built last under build/)")
    add("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="what to run")
    asked = parser.parse_args()
    if asked.command[:1] == ["--"]:
        del asked.command[0]
    if not asked.command:
        parser.error("there is no command to run; see --help")
    if shutil.which(asked.command[0]) is None:
        parser.error(f"the command '{asked.command[0]}' is not found, or is no program")
    asked.switch = asked.switch or find_switch()
    if asked.switch is None or shutil.which(asked.switch) is None:
        name = asked.switch or f"{SOURCE}/build/*/tests/cluster/cluster_switch"
        parser.error(f"there is no switch {name}: build the target cluster_switch, or name one with --switch")
    if asked.once and asked.ranks is not None:
        parser.error("--once runs the command once: it has no --ranks")
    asked.ranks = asked.ranks or asked.nodes
    if asked.priority and asked.ranks > os.cpu_count():
        parser.error(f"--priority with {asked.ranks} ranks: there are {os.cpu_count()} cores, and no rank would give way")
    if asked.priority and (asked.once or os.geteuid() != 0):
        parser.error("--priority is for ranks (not --once), and root's to give")
    asked.kind = None if asked.once else launchers.kind_of(asked.mpiexec)
    if asked.kind is None and not asked.once:
        parser.error(f"--mpiexec {asked.mpiexec} is neither Open MPI's nor MPICH's: give the path of one of these")
    return asked


def find_switch():
    """The switch that was built last in a build folder of this source folder."""
    built = [*SOURCE.glob("build/tests/cluster/cluster_switch"), *SOURCE.glob("build/*/tests/cluster/cluster_switch")]
    return str(max(built, key=lambda path: path.stat().st_mtime)) if built else None


def plan(asked, folder):
    """All that the inside of the run has to know."""
    names = [f"node{i + 1}" for i in range(asked.nodes)]
    first = ["chrt", "--fifo", "1"] if asked.priority else []  # the switch takes more
    line = launchers.command_line(asked.kind, asked.mpiexec, names, asked.ranks, first + asked.command)
    return {
        "folder": folder,
        "names": names,
        "switch": [asked.switch, str(asked.rate), str(asked.delay), str(asked.mtu)],
        "environment": launchers.environment(asked.kind, asked.ranks, nodes.NETWORK),
        "line": line,
        "account": asked.account,
    }


def run(asked):
    """Runs the inside in namespaces of its own, and returns how it ended, with nothing left of it."""
    for tool in ("unshare", "nsenter", "chrt", "mount", "ip"):
        if shutil.which(tool) is None:
            return nodes.refuse(f"there is no '{tool}' (Debian: util-linux, mount, iproute2)")
    with tempfile.TemporaryDirectory(prefix="penstock-cluster-") as folder:
        alive_read, alive_write = os.pipe()  # the inside ends when our end is closed, however we ended
        begun_read, begun_write = os.pipe()
        rights = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        inside = subprocess.Popen(
            ["unshare", *rights, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
            + [sys.executable, "-B", nodes.__file__, json.dumps(plan(asked, folder)), str(alive_read), str(begun_write)],
            pass_fds=(alive_read, begun_write),
        )
        os.close(alive_read)
        os.close(begun_write)
        try:
            status = inside.wait(asked.timeout)
        except subprocess.TimeoutExpired:
            print(f"cluster.py: ended the command after {asked.timeout} s", file=sys.stderr)
            status = TIMED_OUT
        finally:
            os.close(alive_write)
            inside.wait()
        if os.read(begun_read, 1) == b"":
            return nodes.refuse("unshare failed, as told above")
        return status if status >= 0 else 128 - status


def end(number, _):
    sys.exit(128 + number)


def main():
    asked = parse_arguments()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    return run(asked)


if __name__ == "__main__":
    sys.exit(main())
