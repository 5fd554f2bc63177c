"""Matrix multiplies C = alpha op(A) op(B) + beta C: of NumPy's arrays in one process, and of matrices across ranks."""

import ctypes
import os
import weakref
from typing import Optional, Sequence, Tuple, Union

import numpy as np

from penstock import _library as c
from penstock.team import Team, end

Scalar = Union[int, float, complex]


def fill_product(options, op_a: str, op_b: str, alpha: Scalar, beta: Scalar, threads: Optional[int]) -> None:
    """Fills what the options of all multiplies have. Raises Error for an operation that there is not."""
    options.op_a = c.number_of(c.OPS, op_a, "an operation on A")
    options.op_b = c.number_of(c.OPS, op_b, "an operation on B")
    for scalar, into in ((alpha, options.alpha), (beta, options.beta)):
        into[0], into[1] = complex(scalar).real, complex(scalar).imag
    options.threads = len(os.sched_getaffinity(0)) if threads is None else threads


def _type_of(dtype) -> int:
    name = np.dtype(dtype).name
    if name not in c.ELEMENTS or not np.dtype(dtype).isnative:
        raise c.Error(f"elements of {np.dtype(dtype)}: give {', '.join(c.ELEMENTS)}")
    return c.ELEMENTS.index(name)


def _destroy(process: int, handle: ctypes.c_void_p, team: Team) -> None:
    """Ends a matrix; its team lives until then."""
    end(process, "penstock_matrix_destroy", handle)


class Matrix:
    """A matrix of zeros on the ranks of a communicator. Collective, as are its multiplies.

    shape: rows and columns of the whole. comm: a communicator of mpi4py, or a Team; None: this process alone.
    dtype: float32, float64, complex64 or complex128. blocks: rows and columns of a block, which are dealt out to the
    ranks in turn, as ScaLAPACK does; 0: one block a rank. grid: rows and columns of ranks; 0: chosen.

    The matrix owns its memory: `local` is this rank's part of it, an array that lives as long as the matrix does, and
    that may be read and written between collective calls. Keep it until the peers are done with their gets. Raises penstock.Error on every rank where this cannot be.
    """

    def __init__(
        self,
        shape: Sequence[int],
        comm=None,
        dtype=np.float64,
        *,
        blocks: Sequence[int] = (0, 0),
        grid: Sequence[int] = (0, 0),
    ):
        self.team = comm if isinstance(comm, Team) else Team(comm)
        with self.team.together():
            options = c.new_options(c.MatrixOptions, "penstock_matrix_options_init")
            if len(shape) != 2 or len(blocks) != 2 or len(grid) != 2:
                raise c.Error("a shape, blocks and a grid of a matrix have two numbers each: rows and columns")
            options.extents[:] = [int(n) for n in shape]
            options.blocks[:] = [int(n) for n in blocks]
            options.grid[:] = [int(n) for n in grid]
            options.type = _type_of(dtype)
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = np.dtype(dtype)
        self._handle = ctypes.c_void_p()
        c.call("penstock_matrix_create", self.team._handle, ctypes.byref(options), ctypes.byref(self._handle))
        weakref.finalize(self, _destroy, os.getpid(), self._handle, self.team)
        rows, columns = (c.library.penstock_matrix_local_extent(self._handle, d) for d in (0, 1))
        self._local_shape = (rows, columns)

    @property
    def local(self) -> np.ndarray:
        """This rank's elements, without a copy; the array keeps the matrix."""
        if 0 in self._local_shape:
            return np.empty(self._local_shape, self.dtype)
        memory = _Memory(self, c.library.penstock_matrix_local(self._handle), self._local_shape, self.dtype)
        return np.asarray(memory)

    @property
    def rows(self) -> np.ndarray:
        """The rows of the whole matrix that `local` has."""
        return self._indices(0)

    @property
    def columns(self) -> np.ndarray:
        """The columns of the whole matrix that `local` has."""
        return self._indices(1)

    def _indices(self, dimension: int) -> np.ndarray:
        count = self._local_shape[dimension]
        index = c.library.penstock_matrix_index
        return np.fromiter((index(self._handle, dimension, i) for i in range(count)), np.int64, count)

    def put(self, first: Tuple[int, int], array: np.ndarray) -> None:
        """Writes elements from row and column `first` on, on whichever ranks they lie; not collective.

        Others see them behind a barrier of the team. Rows of the array must be contiguous, or are copied.
        """
        array = _with_rows(np.asarray(array, self.dtype))
        self._move("penstock_matrix_put", first, array)

    def get(self, first: Tuple[int, int], extents: Tuple[int, int]) -> np.ndarray:
        """Elements from row and column `first` on, from whichever ranks they lie on; not collective."""
        array = np.empty(extents, self.dtype)
        self._move("penstock_matrix_get", first, array)
        return array

    def _move(self, name: str, first: Tuple[int, int], array: np.ndarray) -> None:
        if array.ndim != 2:
            raise c.Error(f"an array of {array.ndim} axes for elements of a matrix: give two")
        two = ctypes.c_int64 * 2
        c.call(name, self._handle, two(*first), two(*array.shape), array.ctypes.data, _leading(array))


class _Memory:
    """The memory of a matrix as NumPy takes it; keeps the matrix."""

    def __init__(self, matrix: Matrix, address: int, shape: Tuple[int, int], dtype: np.dtype):
        self._matrix = matrix
        self.__array_interface__ = {"version": 3, "data": (address, False), "shape": shape, "typestr": dtype.str}


def _leading(array: np.ndarray) -> int:
    """The elements from one row to the next."""
    return array.strides[0] // array.itemsize if len(array) > 1 and array.shape[1] > 0 else max(array.shape[1], 1)


def _has_rows(array: np.ndarray) -> bool:
    """Whether its rows are contiguous, and lie one behind the other."""
    rows, columns = array.shape
    is_contiguous = columns < 2 or array.strides[1] == array.itemsize
    return is_contiguous and (rows < 2 or columns == 0 or (
        array.strides[0] % array.itemsize == 0 and array.strides[0] >= columns * array.itemsize))


def _with_rows(array: np.ndarray) -> np.ndarray:
    return array if array.ndim == 2 and _has_rows(array) else np.ascontiguousarray(array)


def _factor(array: np.ndarray, op: str, name: str) -> Tuple[np.ndarray, str]:
    """An array as the library takes it, and its operation: a transposed one is taken as it lies."""
    if array.ndim != 2:
        raise c.Error(f"{name} has {array.ndim} axes: give two")
    if op == "none" and not _has_rows(array) and _has_rows(array.T):
        return array.T, "transpose"
    if op == "transpose" and not _has_rows(array) and _has_rows(array.T):
        return array.T, "none"
    return _with_rows(array), op


def _multiply_arrays(a, b, out, op_a, op_b, alpha, beta, threads) -> np.ndarray:
    a, b = np.asarray(a), np.asarray(b)
    dtype = np.result_type(a, b, *([] if out is None else [out]))
    dtype = dtype if dtype.name in c.ELEMENTS else np.result_type(dtype, np.float64)
    kind = _type_of(dtype)
    a, op_a = _factor(a.astype(dtype, copy=False), op_a, "A")
    b, op_b = _factor(b.astype(dtype, copy=False), op_b, "B")
    options = c.new_options(c.GemmOptions, "penstock_gemm_options_init")
    fill_product(options, op_a, op_b, alpha, beta, threads)
    m, k = a.shape if op_a == "none" else a.shape[::-1]
    depth, n = b.shape if op_b == "none" else b.shape[::-1]
    if k != depth:
        raise c.Error(f"op(A) is {m} x {k} and op(B) {depth} x {n}: A must have as many columns as B rows")
    if out is None:
        out = np.zeros((m, n), dtype)
    elif out.shape != (m, n) or out.dtype != dtype or not out.flags.writeable:
        raise c.Error(f"a result of shape {out.shape} and {out.dtype}: give a writeable one of {(m, n)} and {dtype}")
    is_ours = _has_rows(out) and not np.may_share_memory(out, a) and not np.may_share_memory(out, b)
    result = out if is_ours else np.array(out, order="C")
    extents = (ctypes.c_int64 * 3)(m, n, k)
    arguments = [argument for array in (a, b, result) for argument in (array.ctypes.data, _leading(array))]
    c.call("penstock_gemm_arrays", kind, extents, *arguments, ctypes.byref(options))
    if result is not out:
        out[...] = result
    return out


def multiply(
    a: Union[np.ndarray, Matrix],
    b: Union[np.ndarray, Matrix],
    out: Union[None, np.ndarray, Matrix] = None,
    *,
    op_a: str = "none",
    op_b: str = "none",
    alpha: Scalar = 1,
    beta: Scalar = 0,
    threads: Optional[int] = None,
    algorithm: str = "automatic",
    layers: Sequence[int] = (0, 0, 0),
    memory_bytes: int = 0,
) -> Union[np.ndarray, Matrix]:
    """alpha op(A) op(B) + beta out, into `out` where it is given; returns it.

    Of arrays: by this process; A, B and `out` are not copied where they are of one type and their rows or their columns
    are contiguous (of `out`: its rows). Of matrices: collective over their team; a new `out` lies in one block a rank.

    op_a, op_b: "none", "transpose" or "conjugate_transpose". threads: of this rank; None: of a process alone one for
    each processor that it may use, else 1. Of matrices alone: algorithm, "automatic", "stationary", "cannon" or
    "layered" with its `layers`, rows and columns of ranks, and memory_bytes, which a node's ranks may take besides the
    matrices (docs/gemm.md). Raises penstock.Error, of matrices on every rank.
    """
    if not isinstance(a, Matrix):
        if isinstance(b, Matrix) or isinstance(out, Matrix):
            raise c.Error("arrays and matrices: give only the one or the other")
        return _multiply_arrays(a, b, out, op_a, op_b, alpha, beta, threads)
    team = a.team
    with team.together():
        if not isinstance(b, Matrix) or not (out is None or isinstance(out, Matrix)):
            raise c.Error("arrays and matrices: give only the one or the other")
        options = c.new_options(c.GemmOptions, "penstock_gemm_options_init")
        fill_product(options, op_a, op_b, alpha, beta, 1 if threads is None and team.size > 1 else threads)
        options.algorithm = c.number_of(c.ALGORITHMS, algorithm, "an algorithm")
        options.layers[:] = [int(n) for n in layers]
        options.memory_bytes = memory_bytes
    if out is None:
        shape = (a.shape[op_a != "none"], b.shape[op_b == "none"])
        out = Matrix(shape, team, a.dtype)
    c.call("penstock_gemm", team._handle, a._handle, b._handle, out._handle, ctypes.byref(options))
    return out
