"""How the measurements of this folder start what they measure: alone, on ranks of this node, or over the wires of tests/cluster."""

import functools
import os
import pathlib
import shlex
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / "tests/cluster"))
import launchers  # noqa: E402

LAUNCHER = "mpirun.openmpi" if launchers.kind_of("mpirun.openmpi") else "mpirun"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@functools.cache
def kind_of(mpiexec):
    """As launchers.kind_of; ends where it is neither."""
    kind = launchers.kind_of(mpiexec)
    if kind is None:
        sys.exit(f"{mpiexec} is neither Open MPI's nor MPICH's launcher")
    return kind


def on_node(ranks, command, mpiexec=LAUNCHER):
    """The command line of so many ranks of this node, each on a core of its own where there are as many."""
    line = [mpiexec, "-n", ranks]
    if kind_of(mpiexec) == "openmpi":
        many = ranks > (os.cpu_count() or 1)
        line += ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"] if many else ["--bind-to", "core"]
    return [*line, *command]


def over_wires(build, nodes, options, command):
    """The command line of a run on nodes of tests/cluster, by the build's switch; `options` are cluster.py's."""
    return [sys.executable, "-B", SOURCE / "tests/cluster/cluster.py", "--switch", build / "tests/cluster/cluster_switch",
            "--nodes", nodes, *options, "--", *command]


def run(line, environment=None):
    """What a command prints to standard output. Ends with all that it has printed where it fails."""
    line = [str(word) for word in line]
    completed = subprocess.run(line, env={**AS_ROOT, **os.environ, **(environment or {})}, capture_output=True, text=True, check=False)
    if completed.returncode != 0:
        sys.exit(f"{shlex.join(line)}\n{completed.stdout}{completed.stderr}")
    return completed.stdout
