"""Transforms of fields and multiplies of matrices in files, larger than memory.

Where a run was killed, the same call goes on with it.
"""

import ctypes
import os
from typing import Optional, Union

from penstock import _library as c
from penstock.gemm import Scalar, fill_product
from penstock.team import Team

Path = Union[str, "os.PathLike[str]"]


def transform(
    input: Path,
    output: Path,
    comm=None,
    *,
    backward: bool = False,
    real: bool = False,
    points_x: int = 0,
    scaling: str = "none",
    memory_bytes: int = 0,
    threads: int = 1,
) -> None:
    """Collective: transforms the field in the file `input` into the file `output`.

    Files are .npy, .nii, .mrc, or an HDF5 dataset as "F.h5:/velocity/u". real: the field in space is real.
    points_x: of a real result, which its spectrum leaves open; 0: the even number. scaling: the factor on the result,
    "none", "symmetric" (1/sqrt(N)) or "full" (1/N). memory_bytes: of this rank; 0: its share of a quarter of what the
    system has left. Raises penstock.Error on every rank.
    """
    team = comm if isinstance(comm, Team) else Team(comm)
    with team.together():
        options = c.new_options(c.FileOptions, "penstock_fft_file_options_init")
        options.is_backward = backward
        options.type = c.R2C if real else c.C2C
        options.points_x = points_x
        options.scaling = c.number_of(c.SCALINGS, scaling, "a scaling")
        options.memory_bytes = memory_bytes
        options.threads = threads
        paths = os.fsencode(input), os.fsencode(output)
    c.call("penstock_fft_file", team._handle, *paths, ctypes.byref(options))


def multiply(
    a: Path,
    b: Path,
    c_path: Path,
    *,
    op_a: str = "none",
    op_b: str = "none",
    alpha: Scalar = 1,
    beta: Scalar = 0,
    memory_bytes: int = 0,
    threads: Optional[int] = None,
    scratch: bool = True,
) -> None:
    """C = alpha op(A) op(B) + beta C of matrices in .npy files of one type, by this process alone.

    Files are in C or Fortran order. op_a, op_b: "none", "transpose" or "conjugate_transpose". The file `c_path` is
    replaced when the new one is complete; with a beta other than 0 it must exist. memory_bytes: for blocks; 0: a
    quarter of what the system has left. threads: None: one for each processor that the process may use. scratch: blocks
    are kept in unnamed files beside C. Raises penstock.Error.
    """
    options = c.new_options(c.GemmFileOptions, "penstock_gemm_file_options_init")
    fill_product(options, op_a, op_b, alpha, beta, threads)
    options.memory_bytes = memory_bytes
    options.has_no_scratch = not scratch
    c.call("penstock_gemm_file", *map(os.fsencode, (a, b, c_path)), ctypes.byref(options))
