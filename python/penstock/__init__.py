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

from penstock import scipy_fft
from penstock._library import Error, version
from penstock.fft import Execution, Plan, transform_file
from penstock.pfft import PFFT, newDistArray
from penstock.team import Team

__all__ = [
    "Error",
    "Execution",
    "PFFT",
    "Plan",
    "Team",
    "newDistArray",
    "scipy_fft",
    "transform_file",
    "version",
]
__version__ = "0.1.0"
