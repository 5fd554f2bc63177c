"""mpi4py-fft's PFFT, newDistArray and DistArray, for programs that change their import to penstock.pfft.

Served are arrays of two and three axes, real and complex, transformed along any of them, with padding. Other arguments
(grids of one's own, transforms of one's own, other shapes) raise penstock.Error.
"""

from typing import Optional, Sequence

import numpy as np

from penstock._library import Error
from penstock.fft import Plan, new_memory
from penstock.team import Team


class DistArray(np.ndarray):
    """This rank's part of a global array. `local_slice` tells which part; `rank` leading axes are of components."""

    def __array_finalize__(self, other):
        self.global_shape = getattr(other, "global_shape", None)
        self.rank = getattr(other, "rank", 0)
        self._slices = getattr(other, "_slices", None)

    @property
    def v(self) -> np.ndarray:
        """The array as NumPy's."""
        return self.view(np.ndarray)

    def local_slice(self):
        """The indices of the global array that this rank holds."""
        return tuple(slice(0, n) for n in self.global_shape[: self.rank]) + self._slices


class Transform:
    """One direction of a PFFT, called as transform(input_array, output_array, normalize=...)."""

    def __init__(self, owner: "PFFT", is_forward: bool):
        self._owner = owner
        self._is_forward = is_forward
        self._arrays = {}

    def _array(self, is_input: bool) -> np.ndarray:
        """An array of the transform's own, made when it is first asked for."""
        if is_input not in self._arrays:
            self._arrays[is_input] = newDistArray(self._owner, self._is_forward != is_input)
        return self._arrays[is_input]

    @property
    def input_array(self) -> np.ndarray:
        return self._array(True)

    @property
    def output_array(self) -> np.ndarray:
        return self._array(False)

    def __call__(self, input_array=None, output_array=None, normalize: Optional[bool] = None) -> np.ndarray:
        """Collective: transforms, into `output_array` or an array of its own.

        Forward divides by the number of points, backward does not, unless `normalize` tells otherwise.
        """
        source = self.input_array if input_array is None else input_array
        result = self.output_array if output_array is None else output_array
        scaling = "full" if (self._is_forward if normalize is None else normalize) else "none"
        plan = self._owner._plan
        run = plan.forward if self._is_forward else plan.backward
        run(self._owner._as_three(np.asarray(source)), out=self._owner._as_three(np.asarray(result)), scaling=scaling)
        return result


class PFFT:
    """Transforms over the ranks of a communicator, as mpi4py-fft's class of this name. Collective.

    axes: those that are transformed, the last one first: that is the one whose spectrum is halved for real numbers.
    padding: a factor for each axis: the field has so many more points than the spectrum has modes.
    """

    def __init__(
        self,
        comm,
        shape: Sequence[int],
        axes=None,
        dtype=float,
        grid=None,
        padding=False,
        collapse=False,
        backend=None,
        transforms=None,
        darray=None,
        threads: Optional[int] = None,
    ):
        self.comm = comm
        team = comm if isinstance(comm, Team) else Team(comm)
        with team.together():
            if grid is not None or transforms is not None or darray is not None:
                raise Error("a grid, transforms or an array of one's own: these are mpi4py-fft's alone")
            shape = [int(n) for n in shape]
            if len(shape) not in (2, 3):
                raise Error(f"a shape of {len(shape)} axes: give two or three")
            axes = range(len(shape)) if axes is None else [axes] if isinstance(axes, int) else axes
            flat = [a for axis in axes for a in (axis if isinstance(axis, (tuple, list)) else [axis])]
            self.axes = tuple((int(a) % len(shape),) for a in flat)
            padding = [1.0] * len(shape) if padding is False else list(padding)
            points = [int(np.floor(n * factor)) if factor > 1 + 1e-6 else n for n, factor in zip(shape, padding)]
        self._has_two = len(shape) == 2
        self._points = tuple(points)

        def three(values):
            return (1, *values) if self._has_two else tuple(values)

        first = 1 if self._has_two else 0
        self._plan = Plan(
            three(points),
            team,
            dtype,
            axes=[first + a for (a,) in self.axes],
            modes=three(shape) if points != shape else None,
            threads=threads,
        )
        self.forward = Transform(self, True)
        self.backward = Transform(self, False)

    def _two(self, values):
        return tuple(values[1:] if self._has_two else values)

    def _as_three(self, array: np.ndarray) -> np.ndarray:
        return array[None] if self._has_two else array

    @property
    def dimensions(self) -> int:
        """The number of axes."""
        return len(self._points)

    def shape(self, forward_output: bool = True):
        """The shape of this rank's array of the spectrum, or of the field."""
        return self._two(self._plan.output_shape if forward_output else self._plan.input_shape)

    def local_slice(self, forward_output: bool = True):
        """The indices of the spectrum, or of the field, that this rank holds."""
        return self._two(self._plan.output_slices if forward_output else self._plan.input_slices)

    def global_shape(self, forward_output: bool = False):
        """The shape of the whole field, or of its spectrum."""
        return self._two(self._plan.output_global_shape) if forward_output else self._points

    def dtype(self, forward_output: bool = False) -> np.dtype:
        """The type of the field's elements, or of its spectrum's."""
        return self._plan.output_dtype if forward_output else self._plan.dtype

    def destroy(self) -> None:
        """Nothing: the plan ends with the object."""


def newDistArray(pfft: PFFT, forward_output: bool = True, val=0, rank: int = 0, view: bool = False) -> np.ndarray:
    """A new array for this rank's part of the spectrum, or of the field, filled with `val`.

    rank: of a tensor: so many leading axes of components, each as long as the field has axes.
    """
    plan = pfft._plan
    components = (pfft.dimensions,) * rank
    new = plan.new_output if forward_output else plan.new_input
    one = new()
    order = np.argsort([-stride for stride in one.strides])  # axes from the slowest to the fastest
    shape = (*components, *(one.shape[axis] for axis in order))
    count = int(np.prod(shape))
    memory = new_memory(count, one.dtype)[:count].reshape(shape)
    memory[...] = val
    back = np.argsort(order)
    array = memory.transpose(*range(rank), *(rank + axis for axis in back))
    array = (array[..., 0, :, :] if pfft._has_two else array).view(DistArray)
    array.global_shape = (*components, *pfft.global_shape(forward_output))
    array.rank = rank
    array._slices = pfft.local_slice(forward_output)
    return array.v if view else array
