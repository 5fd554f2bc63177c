"""Models of machines: what a described machine would take, as `penstock model` answers it.

    from penstock import model

    points = model.fft("frontier", size=(4096, 4096, 4096), nodes=512)["points"]
    times = [point["time_s"] for point in model.gemm("frontier", n=65536, sweep="nodes=1,4,16")["points"]]

Each function takes the options of its subcommand as keywords: words are joined by _ in place of -, numbers of a size
are given in a tuple, flags are True, and an option that may be given many times (`set`) is a list, or a dictionary of
keys and values. docs/models.md says what the models reckon. Results are the JSON of --json, as dictionaries. Raises
penstock.Error.
"""

import ctypes
import json
from typing import Any, Dict, List

from penstock import _library as c


def _arguments(options: Dict[str, Any]) -> List[str]:
    arguments = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(option)
            continue
        if value is None or value is False:
            continue
        if isinstance(value, dict):
            value = [f"{key}={number}" for key, number in value.items()]
        for one in value if isinstance(value, list) else [value]:
            arguments += [option, "x".join(map(str, one)) if isinstance(one, tuple) else str(one)]
    return arguments


def _ask(model: str, options: Dict[str, Any]) -> Dict[str, Any]:
    arguments = [argument.encode() for argument in _arguments(options)]
    answer = ctypes.c_char_p()
    array = (ctypes.c_char_p * len(arguments))(*arguments)
    c.call("penstock_model", model.encode(), array, len(arguments), ctypes.byref(answer))
    return json.loads(answer.value)


def fft(machine: str = "default", **options: Any) -> Dict[str, Any]:
    """The time of a distributed 3-D FFT, its parts and its bound: `penstock model fft`."""
    return _ask("fft", {"machine": machine, **options})


def gemm(machine: str = "default", **options: Any) -> Dict[str, Any]:
    """The time of a matrix multiply over nodes, out of core, or on the HTMT: `penstock model gemm`."""
    return _ask("gemm", {"machine": machine, **options})


def plan(machine: str = "default", **options: Any) -> Dict[str, Any]:
    """The time of a transform as Penstock's own plans run it, on a calibrated machine: `penstock model plan`."""
    return _ask("plan", {"machine": machine, **options})


def pingpong(machine: str, **options: Any) -> Dict[str, Any]:
    """The time and bandwidth of messages over their length: `penstock model pingpong`."""
    return _ask("pingpong", {"machine": machine, **options})


def topology(machine: str, **options: Any) -> Dict[str, Any]:
    """Links, diameter, bisection and all-to-all time of a network: `penstock model topology`."""
    return _ask("topology", {"machine": machine, **options})
