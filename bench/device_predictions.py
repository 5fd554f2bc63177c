"""Transforms on a device, as predicted and as measured: the runs of validate.py's `measure-device`, and their table."""

import json
import sys

from runs import SOURCE, run

DATA = SOURCE / "bench/validation"
RUNS = DATA / "device_runs.json"
MACHINE = DATA / "machine-device.toml"
ROUNDS = 3
REPETITIONS_S = 0.5  # of repetitions in each, about
# size, type, precision, ranks, where fields lie
CONFIGURATIONS = (
    ("64x64x64", "c2c", "double", 1, "device"),
    ("96x96x96", "c2c", "double", 1, "device"),
    ("100x100x100", "c2c", "double", 1, "device"),
    ("128x128x128", "c2c", "double", 1, "device"),
    ("128x128x128", "c2c", "single", 1, "device"),
    ("128x128x128", "r2c", "double", 1, "device"),
    ("160x120x96", "r2c", "single", 1, "device"),
    ("256x256x256", "c2c", "double", 1, "device"),
    ("256x256x256", "c2c", "single", 1, "device"),
    ("512x64x128", "c2c", "double", 1, "device"),
    ("128x128x128", "c2c", "double", 1, "host"),
    ("192x192x192", "r2c", "single", 1, "host"),
    ("128x128x128", "c2c", "double", 2, "device"),
    ("160x160x160", "c2c", "single", 2, "host"),
)
KEYS = ("size", "type", "precision", "ranks", "fields_on", "predicted_s", "predicted_bound_by")


def measure(command, selector="any"):
    """Calibrates with the device, and times transforms on it in rounds; a time is the shortest of all."""
    DATA.mkdir(exist_ok=True)
    print(f"calibrating: {MACHINE.name}", file=sys.stderr)
    run([command, "calibrate", "--device", selector, "--ranks", "2", "-o", MACHINE])
    runs = [None] * len(CONFIGURATIONS)
    for round_number in range(ROUNDS):
        for i, (size, kind, precision, ranks, place) in enumerate(CONFIGURATIONS):
            print(f"round {round_number + 1}: {CONFIGURATIONS[i]}", file=sys.stderr)
            line = [command, "fft", "--device", selector, "--fields-on", place, "--size", size, "--type", kind,
                    "--precision", precision, "--ranks", ranks, "--machine", MACHINE, "--json", "-"]
            if runs[i] is None:
                first = json.loads(run([*line, "--reps", 3]))
                runs[i] = {**{key: first[key] for key in KEYS}, "device": first["device"]["name"], "repetitions": 0,
                           "forward_s": first["forward_min_s"], "backward_s": first["backward_min_s"]}
            times_s = runs[i]["forward_s"] + runs[i]["backward_s"]
            repetitions = max(4, min(100, round(REPETITIONS_S / times_s)))
            facts = json.loads(run([*line, "--reps", repetitions]))
            runs[i]["repetitions"] += repetitions
            for direction in ("forward", "backward"):
                runs[i][f"{direction}_s"] = min(runs[i][f"{direction}_s"], facts[f"{direction}_min_s"])
    RUNS.write_text(json.dumps(runs, indent=1) + "\n")


def table():
    """The lines of the page's table, and the errors of forward and backward runs."""
    runs = json.loads(RUNS.read_text())
    lines = ["| size | type | precision | ranks | fields on | predicted | bound by | forward | error | backward | error |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    errors = {"forward": [], "backward": []}
    for facts in runs:
        row = ["x".join(map(str, facts["size"])), facts["type"], facts["precision"], str(facts["ranks"]),
               facts["fields_on"], f"{facts['predicted_s'] * 1e3:.3g} ms", facts["predicted_bound_by"]]
        for direction in ("forward", "backward"):
            measured = facts[f"{direction}_s"]
            error = facts["predicted_s"] / measured - 1
            errors[direction].append(error)
            row += [f"{measured * 1e3:.3g} ms", f"{error:+.0%}"]
        lines.append("| " + " | ".join(row) + " |")
    return lines, errors, sorted({facts["device"] for facts in runs})
