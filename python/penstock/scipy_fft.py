"""A backend for scipy.fft: scipy.fft.set_backend(penstock.scipy_fft).

Transforms along all axes of C-contiguous arrays of two or three, of real or complex numbers as the transform has them,
are Penstock's where the array has half the bytes of a core's second-level cache or more; everything else goes on
to SciPy's own (NotImplemented). Plans are remembered.
"""

import functools
import math
import os
import threading

import numpy as np

from penstock._library import Error, library

__ua_domain__ = "numpy.scipy.fft"

MIN_BYTES = None  #: of an array in space that is served; None: half of a core's second-level cache
_SCALINGS = {None: ("none", "full"), "backward": ("none", "full"), "ortho": ("symmetric", "symmetric"),
             "forward": ("full", "none")}


@functools.lru_cache(maxsize=64)
def _plan(shape, dtype, threads, process):
    """A plan for arrays of this shape in C order, and the lock of those who use it. A forked process makes its own."""
    from penstock.fft import Plan
    from penstock.team import Team

    points = (1, *shape) if len(shape) == 2 else shape
    axes = (1, 2) if len(shape) == 2 else (0, 1, 2)
    halved = np.dtype(dtype).kind == "f"
    ends = [*points[:2], points[2] // 2 + 1 if halved else points[2]]
    plan = Plan(
        points,
        Team(),
        dtype,
        axes=axes,
        input_slices=tuple(slice(0, n) for n in points),
        output_slices=tuple(slice(0, n) for n in ends),
        output_order=(0, 1, 2),
        threads=threads,
    )
    return plan, threading.Lock()


def _threads(workers) -> int:
    from scipy import fft

    workers = fft.get_workers() if workers is None else workers
    return workers + 1 + len(os.sched_getaffinity(0)) if workers < 0 else workers


def _is_large(field_bytes: int) -> bool:
    """Whether an array of so many bytes in space is served."""
    return field_bytes >= (library.penstock_cache_l2_bytes() // 2 if MIN_BYTES is None else MIN_BYTES)


def _axes(x, axes):
    """The axes as a sorted tuple; None where they are not all of the array's two or three."""
    axes = range(x.ndim) if axes is None else axes
    try:
        sorted_axes = tuple(sorted(axis + x.ndim * (axis < 0) for axis in axes))
    except TypeError:
        return None
    return sorted_axes if x.ndim in (2, 3) and sorted_axes == tuple(range(x.ndim)) else None


def _transform(x, s, axes, norm, overwrite_x, workers, plan, is_forward, is_real):
    x = np.asarray(x) if isinstance(x, np.ndarray) else None
    kind = "f" if is_real and is_forward else "c"
    if x is None or plan is not None or norm not in _SCALINGS or x.dtype.kind != kind or x.dtype.itemsize > 16:
        return NotImplemented
    if x.dtype.kind == "f" and x.dtype.itemsize not in (4, 8) or not x.dtype.isnative:
        return NotImplemented
    given = axes
    axes = _axes(x, axes)
    threads = _threads(workers)
    if threads < 1 or not (s is None or isinstance(s, (tuple, list))):
        return NotImplemented
    if axes is None or not x.flags.c_contiguous:
        return NotImplemented
    if is_real and given is not None and list(given)[-1] % x.ndim != x.ndim - 1:
        return NotImplemented  # another axis is halved
    shape = list(x.shape)
    if is_real and not is_forward:
        shape[-1] = 2 * (shape[-1] - 1) if s is None else list(s)[-1]
        if shape[-1] // 2 + 1 != x.shape[-1]:
            return NotImplemented
    if s is not None and (given is not None or list(s) != shape):
        if list(s) != shape or (given is not None and [axis % x.ndim for axis in given] != list(range(x.ndim))):
            return NotImplemented
    real = np.dtype("f4") if x.dtype in (np.dtype("f4"), np.dtype("c8")) else np.dtype("f8")
    dtype = real if is_real else np.result_type(real, np.complex64)
    if not _is_large(math.prod(shape) * dtype.itemsize):
        return NotImplemented
    try:
        planned, lock = _plan(tuple(shape), dtype.str, threads, os.getpid())
    except Error:  # no memory for it
        return NotImplemented
    result_shape = (*shape[:-1], shape[-1] // 2 + 1) if is_real and is_forward else tuple(shape)
    result_dtype = dtype if is_real and not is_forward else np.result_type(real, np.complex64)
    result = x if overwrite_x and not is_real and x.flags.writeable else np.empty(result_shape, result_dtype)
    scaling = _SCALINGS[norm][0 if is_forward else 1]

    def as_three(array):
        return array[np.newaxis] if array.ndim == 2 else array

    with lock:
        run = planned.forward if is_forward else planned.backward
        run(as_three(x), out=as_three(result), scaling=scaling)
    return result


def fftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, True, False)


def ifftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, False, False)


def rfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, True, True)


def irfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, False, True)


def fft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return fftn(x, s, axes, norm, overwrite_x, workers, plan=plan)


def ifft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return ifftn(x, s, axes, norm, overwrite_x, workers, plan=plan)


def rfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return rfftn(x, s, axes, norm, overwrite_x, workers, plan=plan)


def irfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    return irfftn(x, s, axes, norm, overwrite_x, workers, plan=plan)


_SERVED = {
    function.__name__: function for function in (fftn, ifftn, rfftn, irfftn, fft2, ifft2, rfft2, irfft2)
}


def __ua_function__(method, args, kwargs):
    """What scipy.fft calls: a function of SciPy's, and its arguments."""
    served = _SERVED.get(method.__name__)
    return NotImplemented if served is None else served(*args, **kwargs)
