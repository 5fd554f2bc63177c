"""The inside of a run of cluster.py: makes the nodes, starts the switch between them and the command on the first.

It is process 1 of a process namespace, with mounts of its own: when it ends, the kernel ends every process that it has
started, and then nothing holds the namespaces, the devices and the mounts.
"""

import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import threading

import launchers

MOST = 250
NETWORK = "10.0.0.0/24"
WINDOW = 4000  # segments: some MiB
REFUSED = 77  # what CTest takes for a test that is skipped

# What the first process of a node does, as `sh -c NODE sh NAME`. It has the node's namespaces; /sys shows the devices of
# the network namespace in which it was mounted.
NODE = """
set -e
hostname "$1"
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /dev/shm
ip link set dev lo up
[ ! -e /proc/sys/net/ipv6 ] || echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
# The one that every system has; its own choice may be one for the internet, that paces itself.
echo reno > /proc/sys/net/ipv4/tcp_congestion_control
# Room for what the windows allow, see start_switch.
echo 4096 4194304 8388608 > /proc/sys/net/ipv4/tcp_wmem
echo 4096 8388608 33554432 > /proc/sys/net/ipv4/tcp_rmem
echo ready
exec sleep infinity
"""


class Refused(Exception):
    """This machine does not let us do what a cluster needs."""


def refuse(reason):
    print(f"cluster.py: no cluster can be made on this machine: {reason}", file=sys.stderr)
    return REFUSED


def address(node):
    return f"10.0.0.{node + 1}"


def checked(line, text=None):
    done = subprocess.run(line, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"{shlex.join(line)}: {done.stderr.strip() or done.returncode}")


def ready(process, what):
    """Returns when the process has said that it is ready."""
    if process.stdout.readline() != "ready\n":
        raise Refused(f"{what}: {process.stderr.read().strip()}")


def start(line):
    pipe = subprocess.PIPE
    return subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)


def mount_own_files(folder, names):
    """A scratch folder that goes with us, and the nodes' names and addresses."""
    checked(["mount", "-t", "tmpfs", "tmpfs", folder])
    hosts = pathlib.Path(folder) / "hosts"
    lines = ["127.0.0.1 localhost"] + [f"{address(i)} {name}" for i, name in enumerate(names)]
    hosts.write_text("\n".join(lines) + "\n")
    checked(["mount", "--bind", str(hosts), "/etc/hosts"])


def start_nodes(folder, names):
    """A process for each node holds its namespaces; `on-node` finds it by its number in a file of the node's name."""
    holders = []
    for name in names:
        holders.append(start(["unshare", "--net", "--uts", "--ipc", "--mount", "sh", "-c", NODE, "sh", name]))
        (pathlib.Path(folder) / name).write_text(f"{holders[-1].pid}\n")
    for name, holder in zip(names, holders):
        ready(holder, name)
    return holders


def start_switch(holders, line):
    networks = [f"/proc/{holder.pid}/ns/net" for holder in holders]
    switch = start([*line, *networks])
    ready(switch, "the switch")
    for i, network in enumerate(networks):
        up = f"address add {address(i)}/24 dev link0\nlink set dev link0 up\n"
        # Nothing is lost, and so TCP has no congestion to feel for. And a TAP device, unlike a card, takes all that the
        # window allows at once: answers to the other direction's data wait behind it, and with small windows the two
        # directions would share the rate of one.
        up += f"route change {NETWORK} dev link0 src {address(i)} initcwnd {WINDOW} initrwnd {WINDOW}\n"
        checked(["nsenter", f"--net={network}", "ip", "-batch", "-"], up)
    return switch


def run(plan):
    folder, names = plan["folder"], plan["names"]
    mount_own_files(folder, names)
    switch = start_switch(start_nodes(folder, names), plan["switch"])
    environment = {**os.environ, **plan["environment"], "PENSTOCK_CLUSTER": folder, "TMPDIR": folder}
    line = f"cd {shlex.quote(os.getcwd())} && exec {shlex.join(plan['line'])}"
    status = subprocess.run([launchers.AGENT, names[0], line], env=environment, check=False).returncode
    if switch.poll() is not None:
        print(f"cluster.py: the switch ended before the command: {switch.stderr.read().strip()}", file=sys.stderr)
        return 1
    if plan["account"]:
        switch.terminate()
        print(f"cluster.py: the switch passed on {switch.communicate()[0].strip()}", file=sys.stderr)
    return status if status >= 0 else 128 - status


def end_with(alive):
    """Ends all when the process outside has ended, for whatever reason."""
    os.read(alive, 1)
    os._exit(1)


def main():
    plan, alive, begun = json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    os.set_inheritable(alive, False)
    os.write(begun, b"1")
    os.close(begun)
    # Ctrl-C is for the process outside to hear; a handler, as children would inherit it if it were ignored.
    signal.signal(signal.SIGINT, lambda *_: None)
    threading.Thread(target=end_with, args=(alive,), daemon=True).start()
    try:
        return run(plan)
    except Refused as refused:
        return refuse(refused)


if __name__ == "__main__":
    sys.exit(main())
