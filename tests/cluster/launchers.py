"""How Open MPI and MPICH start ranks on the nodes: command lines and environment."""

import os
import pathlib
import subprocess

AGENT = str(pathlib.Path(__file__).resolve().with_name("on-node"))


def kind_of(mpiexec):
    """Which MPI a launcher is of: "openmpi", "mpich", or None."""
    try:
        told = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    if "Open MPI" in told or "OpenRTE" in told or "open-mpi" in told:
        return "openmpi"
    return "mpich" if "HYDRA" in told else None


def dealt(names, ranks):
    """The nodes that get ranks, with how many: the first ones get one more where it does not come out even."""
    counts = [ranks // len(names) + (i < ranks % len(names)) for i in range(len(names))]
    return [(name, n) for name, n in zip(names, counts) if n > 0]


def command_line(kind, mpiexec, names, ranks, command):
    """What starts the command from node1: on as many ranks, consecutive ones on a node; or once, where `kind` is None."""
    if kind is None:
        return command
    hosts = ",".join(f"{name}:{n}" for name, n in dealt(names, ranks))
    if kind == "openmpi":
        return [mpiexec, "--host", hosts, "-n", str(ranks), *command]
    return [mpiexec, "-launcher", "ssh", "-launcher-exec", AGENT, "-hosts", hosts, "-n", str(ranks), *command]


def environment(kind, ranks, network):
    """What the launcher is to find, except where the user has said otherwise."""
    if kind == "openmpi":
        wanted = {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_plm": "rsh",
            "OMPI_MCA_plm_rsh_agent": AGENT,
            "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
            "OMPI_MCA_oob_tcp_if_include": network,
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl": "tcp,vader,self",
            "OMPI_MCA_btl_tcp_if_include": network,
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            # Each node sees all cores; that they are shared only we know.
            "OMPI_MCA_mpi_yield_when_idle": str(int(ranks > (os.cpu_count() or 1))),
        }
    elif kind == "mpich":
        wanted = {"UCX_NET_DEVICES": "link0", "UCX_TLS": "tcp,sm,self"}
    else:
        wanted = {}
    return {name: os.environ.get(name, value) for name, value in wanted.items()}
