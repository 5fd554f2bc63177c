"""Penstock from Python: distributed 3-D transforms over MPI, and a backend for scipy.fft.

    from mpi4py import MPI
    import penstock

    plan = penstock.Plan((64, 64, 64), comm=MPI.COMM_WORLD, dtype=float)
    u = plan.new_input()
    u[...] = 1
    u_hat = plan.forward(u)

    import scipy.fft
    with scipy.fft.set_backend(penstock.scipy_fft):
        scipy.fft.fftn(array, workers=2)

The library itself, libpenstock-c, is looked for in the environment variable PENSTOCK_LIBRARY (a path), beside this
package, and where the system has its libraries.
"""

import importlib

from penstock import scipy_fft
from penstock._library import Error, version
from penstock.fft import Execution, Plan, transform_file
from penstock.team import Team

_OVER_MPI = {"PFFT": "pfft", "Transform": "pfft", "DistArray": "distarray", "newDistArray": "distarray",
             "Pencil": "pencil", "Subcomm": "pencil", "Transfer": "pencil"}

__all__ = [
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
    "newDistArray",
    "scipy_fft",
    "transform_file",
    "version",
]
__version__ = "0.1.0"


def __getattr__(name: str):
    """What stands on mpi4py, which need not be there for the rest."""
    if name not in _OVER_MPI:
        raise AttributeError(f"module 'penstock' has no attribute '{name}'")
    return getattr(importlib.import_module(f"penstock.{_OVER_MPI[name]}"), name)
