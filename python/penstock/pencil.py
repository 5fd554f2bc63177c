"""Arrays that are cut among ranks: mpi4py-fft's Subcomm, Pencil and Transfer, with moves of Penstock's."""

import math
from contextlib import suppress
from typing import Sequence

import numpy as np
from mpi4py import MPI

from penstock._library import Error
from penstock.fft import Plan
from penstock.team import Team

_TEAM = MPI.Comm.Create_keyval()


def team_of(comm) -> Team:
    """Collective: the team of a communicator, made once and kept until the communicator is freed."""
    if isinstance(comm, Team):
        return comm
    team = comm.Get_attr(_TEAM)
    if team is None:
        team = Team(comm)
        comm.Set_attr(_TEAM, team)
    return team


class Subcomm(tuple):
    """A communicator for each axis of an array: of the ranks among which that axis is cut. Collective.

    comm: the ranks; a Cartesian communicator has its own grid. dims: the ranks along each axis, 0 where MPI chooses
    them; or the number of axes. `comm` of the result is the communicator of all.
    """

    def __new__(cls, comm, dims=None, reorder: bool = True):
        if comm.Get_topology() == MPI.CART:
            if dims is not None:
                raise Error("dims for a Cartesian communicator, which has its own: leave them out")
            grid = comm
        else:
            dims = [0] if dims is None else [0] * dims if np.ndim(dims) == 0 else [max(0, int(n)) for n in dims]
            grid = comm.Create_cart(MPI.Compute_dims(comm.Get_size(), dims), reorder=reorder)
        axes = range(grid.Get_dim())
        subcomm = super().__new__(cls, [grid.Sub([axis == other for other in axes]) for axis in axes])
        if grid is not comm:
            grid.Free()
        subcomm.comm = comm
        return subcomm

    def destroy(self) -> None:
        """Collective: frees the communicators of the axes."""
        for comm in self:
            if comm:
                comm.Free()


def _block(n: int, ranks: int, rank: int):
    """The length and the start of a rank's part of n indices: the first ranks have one more than the last."""
    each, more = divmod(n, ranks)
    return each + (rank < more), rank * each + min(rank, more)


class Pencil:
    """This rank's part of an array of `shape` that is whole along `axis`: subshape, from the index substart on.

    subcomm: of each axis, or of the first ones, with COMM_SELF for `axis` put among them.
    """

    def __init__(self, subcomm: Sequence, shape: Sequence[int], axis: int = -1):
        shape = tuple(int(n) for n in shape)
        if len(shape) < 2 or min(shape) < 1 or not -len(shape) <= axis < len(shape):
            raise Error(f"a pencil along axis {axis} of an array of shape {shape}: give two axes or more, none empty")
        axis %= len(shape)
        comms = list(subcomm)
        if len(comms) < len(shape):
            comms += [MPI.COMM_SELF] * (len(shape) - 1 - len(comms))
            comms.insert(axis, MPI.COMM_SELF)
        if len(comms) != len(shape) or comms[axis].Get_size() != 1:
            raise Error(f"a pencil along axis {axis}, which {len(comms)} communicators cut: leave that axis whole")
        blocks = [_block(n, comm.Get_size(), comm.Get_rank()) for n, comm in zip(shape, comms)]
        self.shape = shape
        self.axis = axis
        self.subcomm = tuple(comms)
        self.subshape = tuple(length for length, _ in blocks)
        self.substart = tuple(start for _, start in blocks)

    @property
    def slices(self):
        """The indices of the whole array that this rank holds."""
        return tuple(slice(start, start + n) for start, n in zip(self.substart, self.subshape))

    def pencil(self, axis: int) -> "Pencil":
        """The pencil along another axis: this one's is cut as the other was."""
        if not -len(self.shape) <= axis < len(self.shape):
            raise Error(f"axis {axis} of an array of {len(self.shape)}")
        axis %= len(self.shape)
        comms = list(self.subcomm)
        comms[self.axis], comms[axis] = comms[axis], comms[self.axis]
        return Pencil(comms, self.shape, axis)

    def transfer(self, pencil: "Pencil", dtype) -> "Transfer":
        """The moves from arrays of this pencil to arrays of another one, which lies along another axis."""
        comms = list(self.subcomm)
        comms[self.axis], comms[pencil.axis] = comms[pencil.axis], comms[self.axis]
        if self.shape != pencil.shape or self.axis == pencil.axis or tuple(comms) != pencil.subcomm:
            raise Error("a transfer between pencils of which none is the other's .pencil(axis)")
        return Transfer(self, pencil, dtype)


class Transfer:
    """Moves arrays between two pencils, there and back. Its moves are collective over the ranks that share an axis.

    Arrays are of `dtype`, numbers of 4, 8, 16 or 32 bytes. In C order they are moved without a copy. subshapeA, axisA
    and the like are those of the two pencils.
    """

    def __init__(self, pencil_a: Pencil, pencil_b: Pencil, dtype):
        self.dtype = np.dtype(dtype)
        self.comm = pencil_a.subcomm[pencil_b.axis]
        self.subshapeA, self.axisA = pencil_a.subshape, pencil_a.axis
        self.subshapeB, self.axisB = pencil_b.subshape, pencil_b.axis
        self._pencils = pencil_a, pencil_b
        self._plan = None
        if self.dtype.itemsize not in (4, 8, 16, 32):
            raise Error(f"a transfer of {self.dtype}: give numbers of 4, 8, 16 or 32 bytes")

    def _make_plan(self) -> None:
        """The plan of the moves, which takes an array as `_repeats` arrays of three axes.

        Axes before, between and behind the two of the transfer are whole on both sides. One of them is the plan's third
        axis, what lies behind is interleaved, and what is left of them is a loop.
        """
        self._word = {4: np.dtype("f4"), 8: np.dtype("f8")}.get(self.dtype.itemsize, np.dtype("c16"))
        pencil, other = self._pencils
        low, high = sorted((pencil.axis, other.axis))
        before, between = math.prod(pencil.subshape[:low]), math.prod(pencil.subshape[low + 1 : high])
        behind = math.prod(pencil.subshape[high + 1 :]) * (self.dtype.itemsize // self._word.itemsize)
        self._repeats = 1
        if between > 1:
            third, place, self._repeats = between, 1, before
        elif before > 1:
            third, place = before, 0
        else:
            third, place, behind = behind, 2, 1

        def three(values, of_third):
            both = [values[low], values[high]]
            both.insert(place, of_third)
            return tuple(both)

        self._plan = Plan(
            three(pencil.shape, third),
            team_of(self.comm),
            self._word,
            axes=(),
            interleaved=behind,
            input_slices=three(pencil.slices, slice(0, third)),
            output_slices=three(other.slices, slice(0, third)),
            threads=1,
        )

    def _check(self, array: np.ndarray, is_of_a: bool) -> None:
        shape = self.subshapeA if is_of_a else self.subshapeB
        if array.shape != shape or array.dtype != self.dtype:
            raise Error(f"a transfer of {array.dtype}{array.shape}: give {self.dtype}{shape}")

    def _as_taken(self, array: np.ndarray, is_of_a: bool) -> np.ndarray:
        """The array as the plan takes it: `_repeats` arrays. It is a copy where the array is not in C order."""
        shape = self._plan.input_shape if is_of_a else self._plan.output_shape
        return np.ascontiguousarray(array).reshape(-1).view(self._word).reshape(self._repeats, *shape)

    def _move(self, source, target, is_forward: bool) -> None:
        source, target = np.asarray(source), np.asarray(target)
        is_alone = self.comm.Get_size() == 1
        if self._plan is None and not is_alone:
            self._make_plan()
        try:
            self._check(source, is_forward)
            self._check(target, not is_forward)
        except Error:
            if not is_alone:  # the other ranks are in the call, and fail as this one makes it with what cannot be
                with suppress(Error):
                    self._plan.forward(np.empty(0, self._word))
            raise
        if is_alone:
            target[...] = source
            return
        targets = self._as_taken(target, not is_forward)
        move = self._plan.forward if is_forward else self._plan.backward
        for one, other in zip(self._as_taken(source, is_forward), targets):
            move(one, out=other, scaling="none")
        if not np.may_share_memory(targets, target):
            target[...] = targets.view(self.dtype).reshape(target.shape)

    def forward(self, array_a: np.ndarray, array_b: np.ndarray) -> None:
        """Collective: moves an array of the first pencil to one of the second."""
        self._move(array_a, array_b, True)

    def backward(self, array_b: np.ndarray, array_a: np.ndarray) -> None:
        """Collective: moves an array of the second pencil to one of the first."""
        self._move(array_b, array_a, False)

    def destroy(self) -> None:
        """Ends the plan."""
        self._plan = None
