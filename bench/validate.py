#!/usr/bin/env python3
"""Is what the models predict what is measured?

    bench/validate.py measure BUILD_FOLDER    calibrates this machine and times transforms on it: bench/validation/
    bench/validate.py measure-device BUILD_FOLDER    the same with transforms on the first device
    bench/validate.py report BUILD_FOLDER     docs/validation.md, from what is there and from what others have published

`measure` calibrates by `penstock calibrate`, under mpirun and for ranks that are threads, runs `penstock fft` in every
configuration below, in rounds, and calibrates again. Runs keep their shortest time; of the two calibrations `report` takes the
one that was disturbed less, by its transforms in cache, and tells of the other. It wants two cores and a quiet machine. `report`
evaluates the model anew, by `penstock model plan` with the machine file kept there, so that a change of the
model shows. No point is left out. Both take minutes.
"""

import csv
import functools
import json
import pathlib
import sys
import tempfile
import tomllib

import device_predictions
import gemm_predictions
from gemm_predictions import summary
from runs import SOURCE, on_node, run

DATA = SOURCE / "bench/validation"
ROUNDS = 3  # over all configurations: what cores share depends on where a host has placed them at the time
REPETITIONS_S = 0.5  # of repetitions in each, about
# size, type, precision, ranks, threads, transport, spectrum
CONFIGURATIONS = (
    ("32x32x32", "c2c", "double", 1, 1, "threads", "transposed"),
    ("64x64x64", "c2c", "double", 1, 1, "threads", "transposed"),
    ("64x64x64", "c2c", "double", 2, 1, "threads", "transposed"),
    ("64x64x64", "r2c", "double", 1, 1, "threads", "transposed"),
    ("96x96x96", "c2c", "single", 2, 1, "threads", "transposed"),
    ("100x100x100", "c2c", "double", 1, 1, "threads", "transposed"),
    ("128x128x128", "c2c", "double", 1, 1, "threads", "transposed"),
    ("128x128x128", "c2c", "double", 1, 2, "threads", "transposed"),
    ("128x128x128", "c2c", "double", 2, 1, "shm", "transposed"),
    ("128x128x128", "c2c", "double", 2, 1, "mpi", "transposed"),
    ("128x128x128", "r2c", "single", 1, 2, "threads", "transposed"),
    ("160x120x96", "c2c", "double", 1, 2, "threads", "transposed"),
    ("200x200x200", "c2c", "double", 1, 1, "threads", "transposed"),
    ("200x200x200", "r2c", "double", 2, 1, "shm", "transposed"),
    ("211x197x101", "c2c", "double", 1, 2, "threads", "transposed"),
    ("256x256x256", "c2c", "double", 1, 1, "threads", "transposed"),
    ("256x256x256", "c2c", "double", 1, 2, "threads", "transposed"),
    ("256x256x256", "c2c", "double", 2, 1, "shm", "transposed"),
    ("256x256x256", "c2c", "double", 2, 1, "mpi", "transposed"),
    ("256x256x256", "c2c", "double", 1, 2, "threads", "as-input"),
    ("256x256x256", "c2c", "single", 1, 2, "threads", "transposed"),
    ("256x256x256", "r2c", "double", 1, 2, "threads", "transposed"),
    ("320x320x320", "r2c", "single", 2, 1, "shm", "transposed"),
    ("384x384x384", "c2c", "double", 1, 2, "threads", "transposed"),
    ("512x512x64", "c2c", "double", 2, 1, "shm", "transposed"),
    ("1024x64x256", "c2c", "single", 2, 1, "mpi", "transposed"),
    ("384x384x384", "r2c", "double", 2, 1, "threads", "transposed"),
    ("4096x32x64", "c2c", "double", 1, 2, "threads", "transposed"),
)
MPI = {"shm", "mpi"}


def calibrate(command, name):
    for transport in ("threads", "mpi"):
        path = DATA / f"{name}-{transport}.toml"
        print(f"calibrating: {path.name}", file=sys.stderr)
        line = [command, "calibrate", "-o", path]
        run(on_node(2, line) if transport in MPI else [*line, "--ranks", "2"])


def fft_line(command, configuration):
    size, kind, precision, ranks, threads, transport, layout = configuration
    line = [command, "fft", "--size", size, "--type", kind, "--precision", precision,
            "--threads", str(threads), "--layout", layout, "--json", "-", "--transport", transport]
    return on_node(ranks, line) if transport in MPI else [*line, "--ranks", str(ranks)]


def measure(command):
    DATA.mkdir(exist_ok=True)
    calibrate(command, "machine")
    keys = ("size", "type", "precision", "ranks", "threads", "transport", "layout", "grid", "planes_per_message", "passes")
    runs = [None] * len(CONFIGURATIONS)
    with tempfile.TemporaryDirectory() as cache:
        for round_number in range(ROUNDS):
            for i, configuration in enumerate(CONFIGURATIONS):
                print(f"round {round_number + 1}: {configuration}", file=sys.stderr)
                line = fft_line(command, configuration)
                wisdom = {"XDG_CACHE_HOME": cache}
                if runs[i] is None:
                    first = json.loads(run([*line, "--reps", "3"], wisdom))
                    runs[i] = {**{key: first[key] for key in keys}, "repetitions": 0,
                               "forward_s": first["forward_min_s"], "backward_s": first["backward_min_s"]}
                times_s = runs[i]["forward_s"] + runs[i]["backward_s"]
                repetitions = max(4, min(400, round(REPETITIONS_S / times_s)))
                facts = json.loads(run([*line, "--reps", str(repetitions)], wisdom))
                runs[i]["repetitions"] += repetitions
                for direction in ("forward", "backward"):
                    runs[i][f"{direction}_s"] = min(runs[i][f"{direction}_s"], facts[f"{direction}_min_s"])
    (DATA / "own_runs.json").write_text(json.dumps(runs, indent=1) + "\n")
    calibrate(command, "machine-after")


@functools.cache
def node_of(name, family):
    return tomllib.loads((DATA / f"{name}-{family}.toml").read_text())["node"]


def calibrations(family):
    """The names of both, the one that was disturbed less first: whatever else runs makes transforms in cache slower."""
    rates = {name: sum(rate["complex_double_flops"] for rate in node_of(name, family)["fft_rates"])
             for name in ("machine", "machine-after")}
    return sorted(rates, key=rates.get, reverse=True)


def predict(command, run_facts, place=0):
    """By the better of the calibrations, or with `place` 1 by the other."""
    family = "mpi" if run_facts["transport"] in MPI else "threads"
    name = calibrations(family)[place]
    brings_back = run_facts["layout"] == "as-input" and run_facts["ranks"] > 1
    line = [command, "model", "plan", "--machine", DATA / f"{name}-{family}.toml",
            "--size", "x".join(map(str, run_facts["size"])), "--type", run_facts["type"],
            "--precision", run_facts["precision"], "--ranks-per-node", str(run_facts["ranks"]),
            "--threads", str(run_facts["threads"]), "--grid", "x".join(map(str, run_facts["grid"])),
            "--planes-per-message", str(run_facts["planes_per_message"]), "--layout", run_facts["layout"],
            "--passes", "joined" if run_facts["passes"] - brings_back == 2 else "separate", "--json", "-"]
    if run_facts["transport"] == "mpi":
        line += ["--transport", "mpi"]
    return json.loads(run(line))["points"][0]


def drift():
    """What the machine's figures did between the first calibration and the last."""
    lines = []
    for family in ("threads", "mpi"):
        before, after = (node_of(name, family) for name in ("machine", "machine-after"))
        changes = [b["bandwidth_bytes_per_s"] / a["bandwidth_bytes_per_s"] - 1
                   for a, b in zip(before["tile_copies"], after["tile_copies"])]
        rates = [b["complex_double_flops"] / a["complex_double_flops"] - 1
                 for a, b in zip(before["fft_rates"], after["fft_rates"])]
        lines.append(f"- `machine-{family}.toml`: moves of tiles {summary(changes)}; transforms in cache {summary(rates)}; a line "
                     f"between cores {before['line_transfer_s'] * 1e9:.0f} ns, then {after['line_transfer_s'] * 1e9:.0f} ns; "
                     f"the {'first' if calibrations(family)[0] == 'machine' else 'second'} was taken")
    return lines


def own_section(command):
    runs = json.loads((DATA / "own_runs.json").read_text())
    lines = ["| size | type | precision | ranks x threads | transport | spectrum | predicted | forward | error | backward | error |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    errors = {"forward": [], "backward": [], "other": []}
    for facts in runs:
        point = predict(command, facts)
        errors["other"].append(predict(command, facts, 1)["time_s"] / facts["forward_s"] - 1)
        row = ["x".join(map(str, facts["size"])), facts["type"], facts["precision"],
               f"{facts['ranks']} x {facts['threads']}", facts["transport"], facts["layout"],
               f"{point['time_s'] * 1e3:.3g} ms"]
        for direction in ("forward", "backward"):
            measured = facts[f"{direction}_s"]
            error = point["time_s"] / measured - 1
            errors[direction].append(error)
            row += [f"{measured * 1e3:.3g} ms", f"{error:+.0%}"]
        lines.append("| " + " | ".join(row) + " |")
    return lines, errors


def model_fft(command, machine, size, nodes, arguments):
    line = [command, "model", "fft", "--machine", machine, "--size", size, "--nodes", str(nodes), *arguments, "--json", "-"]
    return json.loads(run(line))["points"][0]


def published_rows(command):
    """(source, size, what, predicted, measured, bound by) of every published point."""
    with (DATA / "jean_zay.csv").open() as file:
        for row in csv.DictReader(file):
            size = "x".join(row[key] for key in ("nx", "ny", "nz"))
            cores = int(row["cores"])
            point = model_fft(command, "jean-zay", size, -(-cores // 40),
                              ["--type", "r2c", "--ranks-per-node", "40", "--grid", f"{row['p1']}x{row['p2']}",
                               "--copies", "2", "--ordinary-stores", "--placement", "shared"])
            yield f"Jean-Zay, {row['library']}", size, f"{cores} ranks", 2 * point["time_s"], float(row["time_mean_s"]), point
    for group in json.loads((DATA / "published.json").read_text()):
        quantity = group.get("quantity", "time_s")
        for entry in group["points"]:
            point = model_fft(command, group["machine"], entry["size"], entry["nodes"], group["arguments"])
            if "rate_flops" in entry:
                predicted, measured = 1 / point["rate_flops"], 1 / entry["rate_flops"]  # seconds of an operation
            else:
                predicted, measured = group["transforms"] * point[quantity], entry["time_s"]
            yield group["source"], entry["size"], f"{entry['nodes']} nodes", predicted, measured, point


def published_section(command):
    lines = ["| source | size | | predicted | published | error | bound by |", "|---|---|---|---|---|---|---|"]
    errors = {}
    for source, size, what, predicted, measured, point in published_rows(command):
        error = predicted / measured - 1
        errors.setdefault(source.split(",")[0].split(" on ")[-1], []).append(error)
        lines.append(f"| {source} | {size} | {what} | {predicted:.3g} s | {measured:.3g} s | {error:+.0%} | {point['bound_by'].replace('_', ' ')} |")
    return lines, errors


def report(command):
    own, own_errors = own_section(command)
    published, published_errors = published_section(command)
    products, product_errors = gemm_predictions.table()
    on_device, device_errors, devices = device_predictions.table()
    every = [error for errors in published_errors.values() for error in errors]
    text = (SOURCE / "bench/validation/page.md").read_text()
    for key, value in {
        "own_forward": summary(own_errors["forward"]),
        "own_backward": summary(own_errors["backward"]),
        "own_other": summary(own_errors["other"]),
        "own_table": "\n".join(own),
        "products": summary(product_errors),
        "products_table": "\n".join(products),
        "device_name": ", ".join(devices),
        "device_forward": summary(device_errors["forward"]),
        "device_backward": summary(device_errors["backward"]),
        "device_table": "\n".join(on_device),
        "drift": "\n".join(drift()),
        "published_all": summary(every),
        "published_groups": "\n".join(f"- {name}: {summary(errors)}" for name, errors in published_errors.items()),
        "published_table": "\n".join(published),
    }.items():
        text = text.replace("{{" + key + "}}", value)
    (SOURCE / "docs/validation.md").write_text(text)
    print(f"own runs, forward: {summary(own_errors['forward'])}\n"
          f"own runs, backward: {summary(own_errors['backward'])}\n"
          f"on a device, forward: {summary(device_errors['forward'])}\n"
          f"on a device, backward: {summary(device_errors['backward'])}\npublished: {summary(every)}")


if __name__ == "__main__":
    steps = {"measure": measure, "measure-device": device_predictions.measure, "report": report}
    if len(sys.argv) != 3 or sys.argv[1] not in steps:
        sys.exit(__doc__)
    steps[sys.argv[1]](pathlib.Path(sys.argv[2]).resolve() / "penstock")
