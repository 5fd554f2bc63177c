"""Penstock from Python: distributed 3-D transforms and matrix multiplies over MPI, both also of files larger than memory,
models of machines, and a backend for scipy.fft.

    from mpi4py import MPI
    import penstock

    plan = penstock.Plan((64, 64, 64), comm=MPI.COMM_WORLD, dtype=float)
    u = plan.new_input()
    u[...] = 1
    u_hat = plan.forward(u)

    plan = penstock.DevicePlan((64, 64, 64), device="any")  # arrays of CuPy, PyTorch, pyopencl, NumPy
    u_hat = plan.forward(plan.new_input().from_host(field))

    import scipy.fft
    with scipy.fft.set_backend(penstock.scipy_fft):
        scipy.fft.fftn(array, workers=2)

    from penstock import files, gemm, model

    product = gemm.multiply(a, b)
    files.transform("F.npy", "G.npy", memory_bytes=1 << 32)
    model.fft("frontier", size=(4096, 4096, 4096), nodes=512)

The library itself, libpenstock-c, is looked for in the environment variable PENSTOCK_LIBRARY (a path), beside this
package, where both were installed together (the package in LIB/penstock/python, the library in LIB), and where the
system has its libraries.
"""

import importlib

from penstock import files, gemm, model, scipy_fft
from penstock._library import Error, version
from penstock.device import Device, DeviceArray, devices, open_device
from penstock.device_plan import DevicePlan
from penstock.fft import Execution, Plan
from penstock.team import Team

_OVER_MPI = {"PFFT": "pfft", "Transform": "pfft", "DistArray": "distarray", "newDistArray": "distarray",
             "Pencil": "pencil", "Subcomm": "pencil", "Transfer": "pencil"}

__all__ = [
    "Device",
    "DeviceArray",
    "DevicePlan",
    "DistArray",
    "Error",
    "Execution",
    "PFFT",
    "Pencil",
    "Plan",
    "Subcomm",
    "Team",
    "Transfer",
    "Transform",
    "devices",
    "files",
    "gemm",
    "model",
    "newDistArray",
    "open_device",
    "scipy_fft",
    "version",
]
__version__ = "0.1.0"


def __getattr__(name: str):
    """What stands on mpi4py, which need not be there for the rest."""
    if name not in _OVER_MPI:
        raise AttributeError(f"module 'penstock' has no attribute '{name}'")
    return getattr(importlib.import_module(f"penstock.{_OVER_MPI[name]}"), name)
