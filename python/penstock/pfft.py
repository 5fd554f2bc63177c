"""mpi4py-fft's PFFT and Transform, for programs that change their imports to penstock's.

A plan of Penstock's transforms arrays of two and three axes of single and double precision over the ranks of a
communicator. All others, of more axes or of long double, are transformed by stages as in mpi4py-fft: by scipy.fft the
axes that are whole, with moves of Penstock's between them.
"""

import functools
from contextlib import nullcontext
from typing import Optional, Sequence

import numpy as np

from penstock._library import Error
from penstock.distarray import newDistArray
from penstock.fft import Plan
from penstock.pencil import Pencil, Subcomm, team_of
from penstock.serial import Function, Serial, function_of
from penstock.team import Team


class Transform:
    """One direction of a transform by stages, called as transform(input_array, output_array, normalize=...).

    xfftn: of each stage a function with an input_array and an output_array. transfer: the moves between them, called
    with both arrays. pencil: of the input and of the output.
    """

    def __init__(self, xfftn: Sequence, transfer: Sequence, pencil: Sequence[Pencil]):
        self._xfftn = tuple(xfftn)
        self._transfer = tuple(transfer)
        self._pencil = tuple(pencil)

    @property
    def input_array(self) -> np.ndarray:
        """The array that is transformed where none is given."""
        return self._xfftn[0].input_array

    @property
    def output_array(self) -> np.ndarray:
        """The array of the result where none is given."""
        return self._xfftn[-1].output_array

    @property
    def input_pencil(self) -> Pencil:
        return self._pencil[0]

    @property
    def output_pencil(self) -> Pencil:
        return self._pencil[1]

    def _run(self, input_array, output_array, options) -> np.ndarray:
        if input_array is not None:
            self.input_array[...] = input_array
        for xfftn, transfer, following in zip(self._xfftn, self._transfer, self._xfftn[1:]):
            xfftn(**options)
            transfer(xfftn.output_array, following.input_array)
        self._xfftn[-1](**options)
        if output_array is None:
            return self.output_array
        output_array[...] = self.output_array
        return output_array

    def __call__(self, input_array=None, output_array=None, **options) -> np.ndarray:
        """Collective: transforms, into `output_array` or an array of its own.

        Forward divides by the number of points, backward does not, unless `normalize` tells otherwise.
        """
        return self._run(input_array, output_array, options)


class PlannedTransform(Transform):
    """One direction of a transform by a plan."""

    def __init__(self, owner: "PFFT", is_forward: bool):
        super().__init__((), (), owner.pencil if is_forward else owner.pencil[::-1])
        self._owner = owner
        self._is_forward = is_forward

    @property
    def input_array(self) -> np.ndarray:
        return self._owner._arrays[not self._is_forward]

    @property
    def output_array(self) -> np.ndarray:
        return self._owner._arrays[self._is_forward]

    def _run(self, input_array, output_array, options) -> np.ndarray:
        return self._transform(input_array, output_array, **options)

    def _transform(self, source, result, normalize: Optional[bool] = None) -> np.ndarray:
        source = self.input_array if source is None else source
        result = self.output_array if result is None else result
        scaling = "full" if (self._is_forward if normalize is None else normalize) else "none"
        plan = self._owner._plan
        run = plan.forward if self._is_forward else plan.backward
        three = (1,) * (3 - self._owner.dimensions)

        def as_three(array):
            array = np.asarray(array)
            return array.reshape(three + array.shape) if array.ndim < 3 else array

        run(as_three(source), out=as_three(result), scaling=scaling)
        return result


def _groups_of(axes, dimensions: int):
    """Axes as mpi4py-fft takes them, as a tuple for each stage: the last one is transformed first."""
    axes = range(dimensions) if axes is None else [axes] if isinstance(axes, (int, np.integer)) else axes
    groups = []
    for group in axes:
        group = [group] if isinstance(group, (int, np.integer)) else group
        if len(group) == 0 or not all(-dimensions <= axis < dimensions for axis in group):
            raise Error(f"axes {tuple(axes)} of an array of {dimensions} axes")
        groups.append(tuple(int(axis) % dimensions for axis in group))
    flat = [axis for group in groups for axis in group]
    if not flat or len(set(flat)) < len(flat):
        raise Error(f"axes {tuple(axes)}: give each of them once or not")
    return groups


class PFFT:
    """Transforms over the ranks of a communicator, as mpi4py-fft's class of this name. Collective.

    comm: the ranks, or a Subcomm of as many axes as the shape has.
    shape: of the spectrum, before it is halved for real numbers; of the field, too, where there is no padding.
    axes: those that are transformed, the last one first: that is the one whose spectrum is halved for real numbers.
        Axes in a tuple of their own are whole at the same time.
    dtype: of the field.
    grid: the ranks along each axis, 0 or less where MPI chooses them, 1 for the axes left out.
    padding: a factor for all axes, or one for each: the field has so many more points than the spectrum has modes.
    collapse: axes that are whole at the same time become one stage.
    transforms: for tuples of axes, as in `axes`, a pair of functions, forward and backward: scipy.fft's or mpi4py_fft.
        fftw's fftn, rfftn, dctn or dstn, and its inverse, or a functools.partial with their `type`.
    darray: an array like which the field is cut; its axes, its shape and its type. Then `comm` is not needed.
    slab: the axis that is cut alone, or True for the one behind the first that is transformed.
    threads: of this rank; None: as Plan has it.
    backend, and other options of mpi4py-fft's that choose a library of serial transforms, change nothing.
    """

    _plan = None

    def __init__(
        self,
        comm,
        shape: Optional[Sequence[int]] = None,
        axes=None,
        dtype=float,
        grid=None,
        padding=False,
        collapse: bool = False,
        backend: Optional[str] = None,
        transforms: Optional[dict] = None,
        darray=None,
        slab=False,
        threads: Optional[int] = None,
        **options,
    ):
        del backend, options
        if darray is not None:
            shape, dtype = darray.pencil.shape, darray.dtype
            if axes is None:
                axes = np.roll(range(len(shape)), len(shape) - 1 - darray.alignment)
        elif shape is None:
            raise Error("neither a shape nor an array")
        whole = comm if darray is None else darray.pencil.subcomm
        whole = whole.comm if isinstance(whole, Subcomm) else comm if darray is None else None
        with nullcontext() if whole is None else team_of(whole).together():
            modes = [int(n) for n in shape]
            groups = _groups_of(axes, len(modes))
            dtype = np.dtype(dtype)
            if dtype.char not in "fdgFDG":
                raise Error(f"a field of {dtype}: give real or complex numbers")
            points = self._points_of(modes, groups, padding if darray is None else False)
            known = {
                tuple(int(axis) % len(modes) for axis in group): function_of(pair)
                for group, pair in (transforms or {}).items()
            }
        self.subcomm = self._cut(comm, groups, len(modes), grid, slab) if darray is None else darray.pencil.subcomm
        if any(self.subcomm[axis].Get_size() > 1 for axis in groups[-1]):
            raise Error(f"axes {groups[-1]}, which are transformed first, are cut: leave them whole")
        self.axes = tuple(self._collapsed(groups, known) if collapse and points == modes else groups)
        self._functions = self._functions_of(known, dtype)
        self._modes = [None if n == m else m for n, m in zip(points, modes)]
        if any(f.type is not None and self._modes[g[-1]] is not None for g, f in zip(self.axes, self._functions)):
            raise Error("padding along axes of sines or cosines: give it along Fourier's")
        self._threads = threads
        self._pencils = self._pencils_of(points, modes)
        self.pencil = self._pencils[0][0], self._pencils[-1][1]
        self._dtypes = self._dtypes_of(dtype)
        if whole is not None and len(modes) <= 3 and dtype.char in "fdFD":
            self._plan = self._make_plan(team_of(whole), points, modes)
            self.forward, self.backward = PlannedTransform(self, True), PlannedTransform(self, False)
        else:
            self.forward = Transform([s.forward for s in self.xfftn], [t.forward for t in self.transfer], self.pencil)
            self.backward = Transform(
                [s.backward for s in self.xfftn[::-1]], [t.backward for t in self.transfer[::-1]], self.pencil[::-1]
            )

    @staticmethod
    def _points_of(modes, groups, padding):
        """The points of the field: more than the modes along padded axes."""
        factors = list(padding) if np.ndim(padding) else [padding or 1.0] * len(modes)
        if len(factors) != len(modes):
            raise Error(f"padding of {len(factors)} axes: give a factor for each of {len(modes)}")
        points = list(modes)
        for group in groups:
            for axis in group:
                if factors[axis] > 1 + 1e-6:
                    points[axis] = int(np.floor(modes[axis] * factors[axis]))
        if points != modes and any(len(group) > 1 for group in groups):
            raise Error("padding along axes that are transformed together: give each axis alone")
        return points

    @staticmethod
    def _cut(comm, groups, dimensions, grid, slab) -> Subcomm:
        """The communicators of the axes of the field."""
        if isinstance(comm, Subcomm):
            if grid is not None or slab is not False or len(comm) != dimensions:
                raise Error(f"a Subcomm of {len(comm)} axes for {dimensions}: it tells the grid by itself")
            return comm
        if grid is not None:
            if slab is not False or len(grid) > dimensions:
                raise Error(f"a grid of {len(grid)} axes for {dimensions}: give one, or a slab")
            return Subcomm(comm, [*grid, *[1] * (dimensions - len(grid))])
        if slab is not False and slab is not None:
            axis = (groups[-1][-1] + 1 if slab is True else slab) % dimensions
            return Subcomm(comm, [comm.Get_size() if other == axis else 1 for other in range(dimensions)])
        whole = {*groups[-1], *(axis for group in groups for axis in group[:-1])}
        return Subcomm(comm, [1 if axis in whole else 0 for axis in range(dimensions)])

    def _collapsed(self, groups, known: dict):
        """The stages, where axes that are whole at the same time become one, if they are transformed alike."""
        collapsed = [groups[-1]]
        for group in reversed(groups[:-1]):
            both = group + collapsed[0]
            is_alike = both in known or not (group in known or collapsed[0] in known)
            if is_alike and all(self.subcomm[axis].Get_size() == 1 for axis in group):
                collapsed[0] = both
            else:
                collapsed.insert(0, group)
        return collapsed

    def _functions_of(self, known: dict, dtype: np.dtype):
        """The transform of each stage, in the sequence of `axes`."""
        is_real = dtype.kind == "f"
        functions = []
        for group in reversed(self.axes):
            fourier = Function("rfftn" if is_real else "fftn")
            function = known.get(group, fourier)
            if function.type is None and function != fourier:
                raise Error(f"{function.name} along {group} of {'real' if is_real else 'complex'} numbers")
            is_real = is_real and function.type is not None
            functions.insert(0, function)
        return functions

    def _pencils_of(self, points, modes):
        """The pencils before and after each stage, the first one first."""
        lengths = list(points)
        pencils = []
        comms = self.subcomm
        for group, function in zip(reversed(self.axes), reversed(self._functions)):
            axis = group[-1]
            before = Pencil(comms, lengths, axis) if not pencils else pencils[-1][1].pencil(axis)
            lengths[axis] = modes[axis] // 2 + 1 if function.name == "rfftn" else modes[axis]
            pencils.append((before, Pencil(before.subcomm, lengths, axis)))
        return pencils

    def _dtypes_of(self, dtype: np.dtype):
        """The types of the elements before and after each stage, the first one first."""
        dtypes = []
        for function in reversed(self._functions):
            after = np.result_type(dtype, np.complex64) if function.name == "rfftn" else dtype
            dtypes.append((dtype, after))
            dtype = after
        return dtypes

    @functools.cached_property
    def xfftn(self):
        """The transforms of each stage, the first one first. Raises Error where one is along an axis that is cut."""
        for (before, _), group in zip(self._pencils, reversed(self.axes)):
            if any(before.subcomm[axis].Get_size() > 1 for axis in group):
                raise Error(f"axes {group} are transformed together, and are cut: give a grid that leaves them whole")
        return [
            Serial(before.subshape, group, dtype, function, self._modes[group[-1]], self._threads)
            for (before, _), (dtype, _), group, function in zip(
                self._pencils, self._dtypes, reversed(self.axes), reversed(self._functions)
            )
        ]

    @functools.cached_property
    def transfer(self):
        """The moves between the stages, the first one first."""
        return [
            before[1].transfer(after[0], dtype)
            for before, after, (_, dtype) in zip(self._pencils, self._pencils[1:], self._dtypes)
        ]

    def _make_plan(self, team: Team, points, modes) -> Plan:
        """The plan of arrays of three axes: those of two have one plane."""
        more = 3 - len(points)
        flat = [axis for group in self.axes for axis in group]
        kinds = [None] * len(points)
        for group, function in zip(self.axes, self._functions):
            for axis in group:
                kinds[axis] = function.kind
        plane = (slice(0, 1),) * more
        axes = [more + axis for axis in flat]
        sequence = [*reversed(axes), *(axis for axis in (2, 1, 0) if axis not in axes)]
        ranks = [1] * more + [comm.Get_size() for comm in self.subcomm]
        return Plan(
            [1] * more + points,
            team,
            self.dtype(),
            kinds=[None] * more + kinds,
            axes=axes,
            grid=(ranks[sequence[1]], ranks[sequence[2]]),
            modes=None if points == modes else [1] * more + modes,
            input_slices=plane + self.pencil[0].slices,
            output_slices=plane + self.pencil[1].slices,
            output_order=(*range(more), *(more + axis for axis in self._order())),
            threads=self._threads,
        )

    @functools.cached_property
    def _arrays(self):
        """The arrays that the plan transforms between where none are given: of the field, and of the spectrum."""
        return newDistArray(self, False, view=True), newDistArray(self, True, view=True)

    def order(self, forward_output: bool = True):
        """The axes of this rank's arrays, from the slowest to the fastest."""
        return self._order() if forward_output and self._plan is not None else tuple(range(self.dimensions))

    def _order(self):
        """The axes of the spectrum, where a plan makes it: that which is transformed last is the fastest."""
        last = self.axes[0][0]
        return (*(axis for axis in reversed(range(len(self.pencil[0].shape))) if axis != last), last)

    @property
    def dimensions(self) -> int:
        """The number of axes."""
        return len(self.pencil[0].shape)

    def shape(self, forward_output: bool = True):
        """The shape of this rank's array of the spectrum, or of the field."""
        return self.pencil[1 if forward_output else 0].subshape

    def local_slice(self, forward_output: bool = True):
        """The indices of the spectrum, or of the field, that this rank holds."""
        return self.pencil[1 if forward_output else 0].slices

    def global_shape(self, forward_output: bool = False):
        """The shape of the whole field, or of its spectrum."""
        return self.pencil[1 if forward_output else 0].shape

    def dtype(self, forward_output: bool = False) -> np.dtype:
        """The type of the field's elements, or of its spectrum's."""
        return self._dtypes[-1][1] if forward_output else self._dtypes[0][0]

    def destroy(self) -> None:
        """Collective: ends the plan, and frees the communicators of the axes where they are a Subcomm's."""
        self._plan = None
        for transfer in self.__dict__.get("transfer", ()):
            transfer.destroy()
        if isinstance(self.subcomm, Subcomm):
            self.subcomm.destroy()
