#!/usr/bin/env python3
"""Does `penstock bench latency --fit` find the latency and the bandwidth that a link was given?

Usage, as root: bench/fit_of_a_link.py BUILD_FOLDER. Runs it over two nodes of tests/cluster at several rates and delays,
and prints what was given beside what was found. Given are

    B:    what Ethernet's frames leave of the rate for TCP's payload: 1448 bytes of each 1538 on the wire
    T_l:  the delay, the wire's time for a message without content, and the software's own time: the T_l found by the same
          command over a link without delay and limit

Found are the T_l of the first segment and the B of the last. Ends with 1 where one is off by more than a tenth. Wants a
quiet machine: the ranks run before all else, and a core too few shows.
"""

import json
import pathlib
import sys
import tempfile

import runs

TOLERANCE = 0.1
WAYS = ("put_signal", "MPI send/receive")
PAYLOAD = 1448 / 1538
EMPTY_BYTES = 38 + 52 + 80  # Ethernet's, TCP/IP's, and about what Penstock and MPI put before a message


def fits(build, folder, rate, delay, sizes):
    result = folder / "fit.json"
    command = [build / "penstock", "bench", "latency", "--fit", "--sizes", sizes, "--rounds", "30", "--json", result]
    wires = ["--rate", rate, "--delay", delay, "--priority", "--mpiexec", runs.LAUNCHER]
    runs.run(runs.over_wires(build, 2, wires, command))
    found = {}
    for way in WAYS:
        segments = [fit for fit in json.loads(result.read_text())["fits"] if fit["way"] == way]
        best = [fit for fit in segments if fit["segments"] == segments[-1]["segments"]]
        found[way] = best[0]["latency_s"], best[-1]["bandwidth_bytes_per_s"]
    return found


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    is_off = False
    print(f"{'rate':>8} {'delay':>6}  {'way':18} {'T_l given':>10} {'found':>10}        {'B given':>11} {'found':>11}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        software = fits(build, folder, "unlimited", "0", "8:1024")
        for rate, bits_per_s in (("1Gbit", 1e9), ("100Mbit", 1e8)):
            for delay_us in (10, 30, 100):
                found = fits(build, folder, rate, f"{delay_us}us", "8:1048576")
                for way in WAYS:
                    latency = delay_us * 1e-6 + software[way][0] + EMPTY_BYTES * 8 / bits_per_s
                    bandwidth = bits_per_s / 8 * PAYLOAD
                    off = [found[way][0] / latency - 1, found[way][1] / bandwidth - 1]
                    is_off = is_off or max(map(abs, off)) > TOLERANCE
                    print(
                        f"{rate:>8} {delay_us:>3} us  {way:18} {latency * 1e6:>7.1f} us {found[way][0] * 1e6:>7.1f} us "
                        f"{off[0]:>+6.1%} {bandwidth / 1e6:>6.1f} MB/s {found[way][1] / 1e6:>6.1f} MB/s {off[1]:>+6.1%}",
                        flush=True,
                    )
    return 1 if is_off else 0


if __name__ == "__main__":
    sys.exit(main())
