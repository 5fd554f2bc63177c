"""Distributed 3-D transforms on NumPy arrays, without copies."""

import ctypes
import mmap
import os
import weakref
from contextlib import contextmanager
from typing import Optional, Sequence, Tuple, Union

import numpy as np

from penstock import _library as c
from penstock.team import Team, end

Slices = Tuple[slice, slice, slice]


def _part(slices: Slices, order: Sequence[int]) -> c.Part:
    if len(slices) != 3 or any(s.start is None or s.stop is None or s.step not in (None, 1) for s in slices):
        raise c.Error(f"slices {slices}: give three with a start and a stop")
    if sorted(order) != [0, 1, 2]:
        raise c.Error(f"an order of axes {tuple(order)}: give each of 0, 1 and 2 once")
    part = c.Part()
    for axis, indices in enumerate(slices):
        part.lower[2 - axis] = indices.start
        part.extent[2 - axis] = indices.stop - indices.start
    for i in range(3):
        part.order[i] = 2 - order[i]
    return part


_HUGE_PAGE = 2 << 20


def new_memory(elements: int, dtype: np.dtype) -> np.ndarray:
    """Zeros, in huge pages where they are many: transforms meet all of an array's pages again and again."""
    size = elements * dtype.itemsize
    if size < 2 * _HUGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(max(elements, 1), dtype)
    pages = mmap.mmap(-1, size + _HUGE_PAGE)
    pages.madvise(mmap.MADV_HUGEPAGE)
    all_bytes = np.frombuffer(pages, np.uint8)
    begin = -all_bytes.ctypes.data % _HUGE_PAGE
    return all_bytes[begin : begin + size].view(dtype)


def _finish(process: int, begun: dict, key: int) -> None:
    """Waits for an execution that nobody waits for any more."""
    if os.getpid() == process and key in begun:
        handle, *_ = begun.pop(key)
        c.library.penstock_fft_wait(handle)


def _destroy(process: int, handle: ctypes.c_void_p, team: Team, begun: dict) -> None:
    """Ends a plan, and before it the executions that are under way; its team lives until then."""
    for key in list(begun):
        _finish(process, begun, key)
    end(process, "penstock_fft_plan_destroy", handle)


def _options(
    shape, modes, dtype, kinds, axes, fields, interleaved, parts, grid, as_input, threads, measure
) -> c.Options:
    """The options of a plan, as the library has them. Raises Error for what cannot be."""
    if np.dtype(dtype).name not in ("float32", "float64", "complex64", "complex128"):
        raise c.Error(f"a field of {np.dtype(dtype)}: give float32, float64, complex64 or complex128")
    if len(shape) != 3:
        raise c.Error(f"a shape of {len(shape)} axes: give three")
    if fields is not None and interleaved is not None:
        raise c.Error("fields and interleaved: give one of them")
    batch = next((n for n in (fields, interleaved) if n is not None), 1)
    if batch < 1:
        raise c.Error(f"{batch} fields: give 1 or more, or None")
    kinds = (kinds,) * 3 if kinds is None or isinstance(kinds, str) else tuple(kinds)
    if len(kinds) != 3:
        raise c.Error(f"{len(kinds)} kinds: give one for all axes, or three")
    for kind in kinds:
        if kind is not None and kind not in c.KINDS:
            raise c.Error(f"a kind '{kind}': give one of {', '.join(c.KINDS)}, or None")
    if any(not -3 <= axis < 3 for axis in axes) or len({axis % 3 for axis in axes}) < len(axes):
        raise c.Error(f"axes {tuple(axes)}: give each of 0, 1 and 2 once or not")
    if modes is not None and len(modes) != 3:
        raise c.Error(f"modes along {len(modes)} axes: give three")
    options = c.new_options(c.Options, "penstock_fft_options_init")
    transformed = [axis in {a % 3 for a in axes} for axis in range(3)]
    is_real = np.dtype(dtype).kind == "f"
    has_fourier = any(t and kind is None for t, kind in zip(transformed, kinds))
    options.type = c.C2C if not is_real else c.R2C if has_fourier else c.R2R
    options.is_single = np.dtype(dtype).itemsize == (4 if is_real else 8)
    last_first = [axis % 3 for axis in reversed(list(axes))]
    for i, axis in enumerate([*last_first, *(axis for axis in (2, 1, 0) if axis not in last_first)]):
        options.sequence[i] = 2 - axis
    for axis in range(3):
        options.size[2 - axis] = shape[axis]
        options.modes[2 - axis] = 0 if modes is None or modes[axis] == shape[axis] else modes[axis]
        options.along[2 - axis] = transformed[axis]
        if kinds[axis] is not None:
            options.kinds[2 - axis] = c.KINDS[kinds[axis]]
    options.is_output_as_input = as_input
    for name, slices, order in parts:
        if slices is not None:
            setattr(options, name, ctypes.pointer(_part(slices, (0, 1, 2) if order is None else order)))
        elif order is not None:
            raise c.Error("an order of axes without slices: give both")
    options.threads = threads
    options.batch = batch
    options.is_interleaved = interleaved is not None
    options.grid[:] = grid
    options.measures = measure
    return options


class Plan:
    """A transform of a global array of `shape`, planned once and run many times. Collective, as are all its transforms.

    Axes are NumPy's: axis 2 is contiguous in C order. Each rank holds a part of the field, `input_slices`, and of the
    spectrum, `output_slices`; arrays of a part have its shape, with the axes of the global array, whichever of them is
    contiguous.

    shape: points along the three axes; with one array per field in a leading axis where `fields` is not None.
    comm: a communicator of mpi4py; None: this process alone.
    dtype: of the field: float32, float64, complex64 or complex128. Real fields have a spectrum of n // 2 + 1 points
        along the last of `axes` that Fourier's transform goes along.
    kinds: per axis None (Fourier), or "redft00" ... "rodft11", "r2hc", "hc2r", "dht" as FFTW has them; one for
        all axes, or three. Real fields of such kinds alone have a real spectrum.
    axes: those that are transformed, the last one first, as NumPy's; () redistributes.
    modes: of the spectrum, where it has fewer than the field's points: forward leaves out the others, backward takes
        them as 0. With 2/3 of the points products have no aliases.
    fields: transformed together by each call, as the leading axis of arrays.
    interleaved: the same, as the trailing axis of arrays, whose numbers lie beside each other.
    input_slices, output_slices: parts of one's own, both or one; input_order, output_order: the axes from slowest to
        fastest in their arrays, (0, 1, 2) where they are not given.
    grid: the ranks among which the second and the third axis are cut, counted as they are transformed; (0, 0): chosen.
    as_input: the spectrum lies as the field does; otherwise in pencils along axis 0, which is cheaper.
    threads: of this rank; None: of a process alone one for each processor that it may use, else 1.
    measure: chooses by timing.

    Raises penstock.Error on every rank where this cannot be, or needs more memory than there is.
    """

    def __init__(
        self,
        shape: Sequence[int],
        comm=None,
        dtype=np.complex128,
        *,
        kinds: Union[None, str, Sequence[Optional[str]]] = None,
        axes: Sequence[int] = (0, 1, 2),
        modes: Optional[Sequence[int]] = None,
        fields: Optional[int] = None,
        interleaved: Optional[int] = None,
        input_slices: Optional[Slices] = None,
        output_slices: Optional[Slices] = None,
        input_order: Optional[Sequence[int]] = None,
        output_order: Optional[Sequence[int]] = None,
        grid: Tuple[int, int] = (0, 0),
        as_input: bool = False,
        threads: Optional[int] = None,
        measure: bool = False,
    ):
        self.team = comm if isinstance(comm, Team) else Team(comm)
        if threads is None:
            threads = len(os.sched_getaffinity(0)) if self.team.size == 1 else 1
        parts = (("input_part", input_slices, input_order), ("output_part", output_slices, output_order))
        with self.team.together():
            options = _options(
                shape, modes, dtype, kinds, axes, fields, interleaved, parts, grid, as_input, threads, measure
            )
        self.dtype = np.dtype(dtype)
        self.shape = tuple(int(n) for n in shape)
        self.fields = fields
        self.interleaved = interleaved
        self._begun = {}
        points = [int(m) for m in (modes or shape)]
        if options.type == c.R2C:
            axis = next(2 - d for d in options.sequence if options.along[d] and options.kinds[d] == c.DEFAULT_KIND)
            points[axis] = points[axis] // 2 + 1
        self.output_global_shape = tuple(points)
        self._handle = ctypes.c_void_p()
        self._create(options)
        weakref.finalize(self, _destroy, os.getpid(), self._handle, self.team, self._begun)
        self.output_dtype = self.dtype if options.type != c.R2C else np.result_type(self.dtype, np.complex64)
        self._input = c.library.penstock_fft_input_part(self._handle)
        self._output = c.library.penstock_fft_output_part(self._handle)
        self._input_elements = c.library.penstock_fft_input_elements(self._handle)
        self._output_elements = c.library.penstock_fft_output_elements(self._handle)

    def _create(self, options: c.Options) -> None:
        c.call("penstock_fft_plan_create", self.team._handle, ctypes.byref(options), ctypes.byref(self._handle))

    @staticmethod
    def _slices(part: c.Part) -> Slices:
        return tuple(slice(part.lower[d], part.lower[d] + part.extent[d]) for d in (2, 1, 0))

    @property
    def input_slices(self) -> Slices:
        """The indices of the field, along axes 0, 1 and 2, that this rank holds."""
        return self._slices(self._input)

    @property
    def output_slices(self) -> Slices:
        """The indices of the spectrum, along axes 0, 1 and 2, that this rank holds."""
        return self._slices(self._output)

    @property
    def input_shape(self) -> Tuple[int, ...]:
        """The shape of this rank's array of the field, or fields."""
        return self._local_shape(self._input)

    @property
    def output_shape(self) -> Tuple[int, ...]:
        """The shape of this rank's array of the spectrum, or spectra."""
        return self._local_shape(self._output)

    def _local_shape(self, part: c.Part) -> Tuple[int, ...]:
        leading = () if self.fields is None else (self.fields,)
        trailing = () if self.interleaved is None else (self.interleaved,)
        return leading + tuple(part.extent[d] for d in (2, 1, 0)) + trailing

    def _new(self, part: c.Part, dtype: np.dtype, elements: int) -> np.ndarray:
        memory = new_memory(elements, dtype)
        return np.lib.stride_tricks.as_strided(
            memory, self._local_shape(part), self._strides(part, dtype, elements)
        )

    def new_input(self) -> np.ndarray:
        """A new array of zeros for this rank's part of the field, as transforms take it."""
        return self._new(*self._side(True))

    def new_output(self) -> np.ndarray:
        """A new array of zeros for this rank's part of the spectrum, as transforms take it."""
        return self._new(*self._side(False))

    def _is_taken(self, array: np.ndarray, is_input: bool) -> bool:
        """Whether the array lies as transforms take it. Raises Error where it has not this rank's shape."""
        part, dtype, elements = self._side(is_input)
        if array.shape != self._local_shape(part):
            raise c.Error(f"an array of shape {array.shape}: this rank's part has {self._local_shape(part)}")
        strides = zip(array.shape, array.strides, self._strides(part, dtype, elements))
        lies_so = elements == 0 or (array.size > 0 and all(n == 1 or mine == taken for n, mine, taken in strides))
        return array.dtype == dtype and lies_so

    def _as_taken(self, array: np.ndarray, is_input: bool) -> np.ndarray:
        """The array itself where it lies as transforms take it, else a copy that does."""
        if self._is_taken(array, is_input):
            return array
        copy = self._new(*self._side(is_input))
        np.copyto(copy, array, casting="same_kind")
        return copy

    def _side(self, is_input: bool):
        """The part, the type and the elements of this rank's array of the field or of the spectrum."""
        if is_input:
            return self._input, self.dtype, self._input_elements
        return self._output, self.output_dtype, self._output_elements

    def _strides(self, part: c.Part, dtype: np.dtype, elements: int) -> Tuple[int, ...]:
        """The strides of an array as transforms take it."""
        strides = [0, 0, 0]
        bytes_of_index = dtype.itemsize * (self.interleaved or 1)
        for d in reversed(part.order):
            strides[2 - d] = bytes_of_index
            bytes_of_index *= part.extent[d]
        if self.interleaved is not None:
            return (*strides, dtype.itemsize)
        if self.fields is None:
            return tuple(strides)
        count = bytes_of_index // dtype.itemsize
        return ((elements - count) // max(self.fields - 1, 1) * dtype.itemsize, *strides)

    @contextmanager
    def _or_all_fail(self):
        """What fails in the block raises Error, and fails on the other ranks, which are in the call."""
        try:
            yield
        except Exception as failure:
            # As this rank makes the call with what cannot be.
            c.library.penstock_fft_forward(self._handle, None, None, -1)
            raise failure if isinstance(failure, c.Error) else c.Error(str(failure)) from failure

    def _begin(self, array: np.ndarray, out: Optional[np.ndarray], is_forward: bool, scaling: str):
        """The input and the result as transforms take them, and the arguments of the call."""
        with self._or_all_fail():
            factor = c.number_of(c.SCALINGS, scaling, "a scaling")
            array = self._as_taken(np.asarray(array), is_forward)
            result = None
            if out is not None:
                if not out.flags.writeable:
                    raise c.Error("an array for the result that is read-only")
                result = out if self._is_taken(out, not is_forward) else None
                if not np.can_cast(self._side(not is_forward)[1], out.dtype, "same_kind"):
                    raise c.Error(f"an array of {out.dtype} for a result of {self._side(not is_forward)[1]}")
            if result is None:
                result = self._new(*self._side(not is_forward))
        return array, result, (self._handle, array.ctypes.data, result.ctypes.data, factor)

    def _transform(self, array, out, is_forward: bool, scaling: str) -> np.ndarray:
        array, result, arguments = self._begin(array, out, is_forward, scaling)
        c.call("penstock_fft_forward" if is_forward else "penstock_fft_backward", *arguments)
        if out is not None and result is not out:
            np.copyto(out, result, casting="same_kind")
            return out
        return result

    def forward(self, array: np.ndarray, out: Optional[np.ndarray] = None, scaling: str = "none") -> np.ndarray:
        """Collective: transforms this rank's part of the field to that of the spectrum, into `out` where it is given.

        Arrays that lie as new_input and new_output have them are not copied. scaling: "none", "symmetric" (1/sqrt(N))
        or "full" (1/N). Raises penstock.Error on every rank where it fails.
        """
        return self._transform(array, out, True, scaling)

    def backward(self, array: np.ndarray, out: Optional[np.ndarray] = None, scaling: str = "full") -> np.ndarray:
        """Collective: transforms this rank's part of the spectrum to that of the field; else as `forward`."""
        return self._transform(array, out, False, scaling)

    def start_forward(self, array: np.ndarray, scaling: str = "none") -> "Execution":
        """Collective: begins `forward`; the caller works meanwhile."""
        return Execution(self, "penstock_fft_start_forward", self._begin(array, None, True, scaling))

    def start_backward(self, array: np.ndarray, scaling: str = "full") -> "Execution":
        """Collective: begins `backward`; the caller works meanwhile."""
        return Execution(self, "penstock_fft_start_backward", self._begin(array, None, False, scaling))

    @property
    def last_times(self) -> dict:
        """Seconds of the last transform on this rank: total_s, transform_s, move_s and wait_s."""
        times = c.library.penstock_fft_last_times(self._handle)
        return {name: getattr(times, name) for name, _ in c.Times._fields_}


class Execution:
    """A transform under way. `wait` returns its result."""

    def __init__(self, plan: Plan, name: str, begun):
        array, self._result, arguments = begun
        handle = ctypes.c_void_p()
        c.call(name, *arguments, ctypes.byref(handle))
        self._plan = plan
        self._key = id(self)
        self._failure = None
        plan._begun[self._key] = (handle, array, self._result)
        weakref.finalize(self, _finish, os.getpid(), plan._begun, self._key)

    def progress(self) -> bool:
        """Does what can be done without waiting for peers; whether all is done."""
        is_done = ctypes.c_int(1)
        if self._key in self._plan._begun:
            c.call("penstock_fft_progress", self._plan._begun[self._key][0], ctypes.byref(is_done))
        return bool(is_done.value)

    def wait(self) -> np.ndarray:
        """Completes the transform and returns its result."""
        handle, *_ = self._plan._begun.pop(self._key, (None,))
        if handle is not None:
            try:
                c.call("penstock_fft_wait", handle)
            except c.Error as failure:
                self._failure = failure
        if self._failure is not None:
            raise self._failure
        return self._result
