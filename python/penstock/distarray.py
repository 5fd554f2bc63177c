"""mpi4py-fft's DistArray: NumPy's arrays that know which part of a global array they are."""

import ctypes
from numbers import Integral, Number
from typing import Optional

import numpy as np
from mpi4py import MPI

from penstock._library import Error
from penstock.fft import new_memory
from penstock.pencil import Pencil, Subcomm, Transfer


def _subcomm_of(subcomm, axes: int, alignment: Optional[int]):
    """The communicators of each axis, of what DistArray is given."""
    if subcomm is None:
        subcomm = [0] * axes
        subcomm[-1 if alignment is None else alignment] = 1
    if len(subcomm) != axes:
        raise Error(f"{len(subcomm)} communicators, or numbers of ranks, for {axes} axes: give one for each")
    if all(isinstance(comm, MPI.Comm) for comm in subcomm):
        return subcomm
    return Subcomm(MPI.COMM_WORLD, subcomm)


class DistArray(np.ndarray):
    """This rank's part of an array of `global_shape`; its `rank` leading axes are of components, and never cut.

    subcomm: the communicators of the other axes (a Subcomm), or the ranks of COMM_WORLD along each of them, 0 where MPI
        chooses; None: all but the axis `alignment` are cut. Making communicators is collective.
    val: of the elements. buffer, strides: memory of one's own.
    alignment: the axis, counted without components, that is whole; None: the last one that is.
    """

    def __new__(
        cls, global_shape, subcomm=None, val=None, dtype=float, buffer=None, strides=None, alignment=None, rank=0
    ):
        global_shape = tuple(int(n) for n in global_shape)
        components, shape = global_shape[:rank], global_shape[rank:]
        pencil = None
        if len(shape) > 1:
            comms = _subcomm_of(subcomm, len(shape), alignment)
            if alignment is None:
                alignment = max((axis for axis, comm in enumerate(comms) if comm.Get_size() == 1), default=-1)
            pencil = Pencil(comms, shape, alignment)
            shape = pencil.subshape
        return cls._of_pencil(pencil, (*components, *shape), val, dtype, buffer, strides, rank)

    @classmethod
    def _of_pencil(cls, pencil, shape, val, dtype, buffer, strides, rank):
        if buffer is None:
            memory = new_memory(int(np.prod(shape)), np.dtype(dtype)).view(np.uint8)
            buffer = (ctypes.c_char * len(memory)).from_buffer(memory)  # no array: views have this one as their base
        array = super().__new__(cls, shape, dtype, buffer, strides=strides)
        if isinstance(val, Number):
            array.fill(val)
        array._p0 = pencil
        array._rank = rank
        return array

    def __array_finalize__(self, other):
        self._p0 = getattr(other, "_p0", None)
        self._rank = getattr(other, "_rank", 0)

    @property
    def v(self) -> np.ndarray:
        """The array as NumPy's."""
        return self.view(np.ndarray)

    @property
    def rank(self) -> int:
        """Of the tensor: how many leading axes are of components."""
        return self._rank

    @property
    def pencil(self) -> Pencil:
        """Which part of the global array this is, without components; None for arrays of one axis."""
        return self._p0

    @property
    def alignment(self) -> int:
        """The axis that is whole, counted without components."""
        return self._p0.axis

    @property
    def dimensions(self) -> int:
        """The axes without components."""
        return len(self._p0.shape)

    @property
    def global_shape(self):
        """The shape of the whole array, with components."""
        return self.shape[: self.rank] + (self.shape[self.rank :] if self._p0 is None else self._p0.shape)

    @property
    def substart(self):
        """The first indices of the global array that this rank holds."""
        return (0,) * self.rank + self._p0.substart

    @property
    def subcomm(self):
        """The communicator of each axis."""
        return (MPI.COMM_SELF,) * self.rank + self._p0.subcomm

    @property
    def commsizes(self):
        """The ranks along each axis."""
        return [comm.Get_size() for comm in self.subcomm]

    def local_slice(self):
        """The indices of the global array that this rank holds."""
        whole = self.shape[: self.rank] if self._p0 is not None else self.shape
        return tuple(slice(0, n) for n in whole) + (() if self._p0 is None else self._p0.slices)

    def __getitem__(self, index):
        """A component, or several, of a tensor is a DistArray; all else is NumPy's."""
        indices = index if isinstance(index, tuple) else (index,)
        if self.ndim == 1 or len(indices) > self.rank or not all(isinstance(i, (Integral, slice)) for i in indices):
            return np.ndarray.__getitem__(self if self.ndim == 1 else self.v, index)
        part = super().__getitem__(index)
        part._rank = self.rank - (self.ndim - part.ndim)
        return part

    def get(self, gslice) -> Optional[np.ndarray]:
        """Collective over COMM_WORLD: a part of the global array, on rank 0; None on the others.

        gslice: for each axis an index, or slice(None).
        """
        if len(gslice) != self.ndim or not all(isinstance(i, Integral) or i == slice(None) for i in gslice):
            raise Error(f"a part {gslice} of {self.ndim} axes: give an index or slice(None) for each")
        places, local = [], []
        holds = True
        for i, n, held in zip(gslice, self.global_shape, self.local_slice()):
            if isinstance(i, Integral):
                i = i + n if i < 0 else i
                holds = holds and held.start <= i < held.stop
                local.append(i - held.start)
            else:
                places.append(held)
                local.append(slice(None))
        mine = (tuple(places), self.v[tuple(local)]) if holds else None
        parts = MPI.COMM_WORLD.gather(mine)
        if parts is None:
            return None
        result = np.zeros([n for i, n in zip(gslice, self.global_shape) if not isinstance(i, Integral)], self.dtype)
        for place, part in filter(None, parts):
            result[place] = part
        return result

    def get_pencil_and_transfer(self, axis: int):
        """The pencil along another axis, and the moves to its arrays."""
        pencil = self._p0.pencil(axis)
        return pencil, self._p0.transfer(pencil, self.dtype)

    def redistribute(self, axis: Optional[int] = None, out: Optional["DistArray"] = None) -> "DistArray":
        """Collective: the array cut so that `axis`, or the one along which `out` lies, is whole; into `out`, or a new
        array. Where it lies so already it is the array itself.
        """
        if axis is not None:
            axis %= self.dimensions
        if axis == self.alignment:
            return self
        if out is None and axis is None or out is not None and axis is not None and axis != out.alignment:
            raise Error("a redistribution: give the axis that becomes whole, or an array that lies so")
        if out is not None and self.global_shape != out.global_shape:
            raise Error(f"an array of {out.global_shape} for one of {self.global_shape}")
        if out is None and self._p0.subcomm[axis].Get_size() == 1:
            self._p0 = Pencil(self._p0.subcomm, self._p0.shape, axis)
            return self
        if out is not None and self._p0.subcomm == out._p0.subcomm:
            out[...] = self
            return out
        pencil = self._p0.pencil(axis) if out is None else out._p0
        transfer: Transfer = self._p0.transfer(pencil, self.dtype)
        if out is None:
            shape = self.shape[: self.rank] + pencil.subshape
            out = DistArray._of_pencil(pencil, shape, None, self.dtype, None, None, self.rank)
        for component in np.ndindex(self.shape[: self.rank]):
            transfer.forward(self.v[component], out.v[component])
        transfer.destroy()
        return out

    def _file(self, file, **options):
        """A file of mpi4py-fft's, where its name is given."""
        if not isinstance(file, str):
            return file
        try:
            from mpi4py_fft import io
        except ImportError as failure:
            raise Error(f"'{file}': fields are written and read by mpi4py-fft's classes: install it") from failure
        return (io.HDF5File if file.endswith(".h5") else io.NCFile)(file, **options)

    def write(self, filename, name="darray", step=0, global_slice=None, domain=None, as_scalar=False) -> None:
        """Collective: writes the array, or a part, by mpi4py-fft's HDF5File or NCFile, which `filename` names or is."""
        field = self if global_slice is None else (self, global_slice)
        self._file(filename, domain=domain, mode="a").write(step, {name: [field]}, as_scalar=as_scalar)

    def read(self, filename, name="darray", step=0) -> None:
        """Collective: reads the whole array from what `write` has written."""
        self._file(filename, mode="r").read(self, name, step=step)


def newDistArray(pfft, forward_output: bool = True, val=0, rank: int = 0, view: bool = False):
    """A new array for this rank's part of the spectrum of a PFFT, or of the field, filled with `val`.

    rank: of a tensor: so many leading axes of components, each as long as the field has axes. view: as NumPy's.
    """
    pencil = pfft.pencil[1 if forward_output else 0]
    order = pfft.order(forward_output)
    components = (pfft.dimensions,) * rank
    dtype = pfft.dtype(forward_output)
    strides = [0] * len(order)
    step = dtype.itemsize
    for axis in reversed(order):
        strides[axis] = step
        step *= pencil.subshape[axis]
    for _ in range(rank):
        strides.insert(0, step)
        step *= pfft.dimensions
    array = DistArray._of_pencil(pencil, components + pencil.subshape, val, dtype, None, strides, rank)
    return array.v if view else array
