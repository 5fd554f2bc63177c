"""Distributed 3-D transforms on devices, of arrays in device memory and of NumPy's."""

import ctypes
from contextlib import ExitStack
from typing import Sequence, Union

import numpy as np

from penstock import _library as c
from penstock.device import Device, DeviceArray, Lent, is_on_device, lend, open_device
from penstock.fft import Plan
from penstock.team import Team


class DevicePlan(Plan):
    """A Plan whose transforms run on devices, each rank's on one: of complex fields and of real ones, Fourier's alone.

    device: this rank's, an open one or what open_device takes; several ranks may have the same. The other arguments are
    those of Plan. What devices do not do is refused with a sentence: other kinds, modes, interleaved fields.

    forward and backward take arrays in device memory, with the strides and the type that new_input and new_output have:

    - a DeviceArray of this device;
    - of CUDA, what has __dlpack__ or __cuda_array_interface__, as arrays of CuPy and tensors of PyTorch. CUDA's device
      must be the plan's. What was begun with an array is waited for;
    - where the device was opened from a context of pyopencl, a pyopencl.array.Array, whose queue is waited for, or a
      Buffer, whose first bytes are the array: what was begun with it must be done.

    Without `out` the result is a DeviceArray. Or else both arrays are NumPy's, and pass through the device.
    """

    def __init__(
        self,
        shape: Sequence[int],
        comm=None,
        dtype=np.complex128,
        *,
        device: Union[str, Device, object] = "any",
        **options,
    ):
        team = comm if isinstance(comm, Team) else Team(comm)
        self.device = open_device(device, team) if not isinstance(device, Device) else device
        super().__init__(shape, team, dtype, **options)

    def _create(self, options: c.Options) -> None:
        c.call(
            "penstock_fft_plan_create_on_device",
            self.team._handle,
            self.device._handle,
            ctypes.byref(options),
            ctypes.byref(self._handle),
        )

    def _new_on_device(self, is_input: bool) -> DeviceArray:
        part, dtype, elements = self._side(is_input)
        return DeviceArray(self.device, self._local_shape(part), dtype, self._strides(part, dtype, elements))

    def new_input(self) -> DeviceArray:
        """A new array for this rank's part of the field, in device memory. Its numbers are undefined at first."""
        return self._new_on_device(True)

    def new_output(self) -> DeviceArray:
        """A new array for this rank's part of the spectrum, in device memory. Its numbers are undefined at first."""
        return self._new_on_device(False)

    def _check(self, array: Lent, is_input: bool) -> None:
        """Raises Error where the array is not as transforms take it: none is copied or converted."""
        part, dtype, elements = self._side(is_input)
        if array.dtype is None:
            if array.nbytes < elements * dtype.itemsize:
                raise c.Error(f"a buffer of {array.nbytes} bytes: this rank's part has {elements * dtype.itemsize}")
            return
        if array.dtype != dtype:
            raise c.Error(f"an array of {array.dtype}: in device memory this rank's part is of {dtype}")
        shape, strides = self._local_shape(part), self._strides(part, dtype, elements)
        if array.shape != shape:
            raise c.Error(f"an array of shape {array.shape}: this rank's part has {shape}")
        if elements > 0 and any(n > 1 and mine != taken for n, mine, taken in zip(shape, array.strides, strides)):
            raise c.Error(f"an array of strides {array.strides}: in device memory this rank's part has {strides} bytes")

    def _transform(self, array, out, is_forward: bool, scaling: str):
        name = "penstock_fft_forward_on_device" if is_forward else "penstock_fft_backward_on_device"
        with ExitStack() as lent:
            with self._or_all_fail():
                are_on_device = is_on_device(array) or is_on_device(out)
                if are_on_device:
                    factor = c.number_of(c.SCALINGS, scaling, "a scaling")
                    out = self._new_on_device(not is_forward) if out is None else out
                    source = lent.enter_context(lend(array, self.device))
                    result = lent.enter_context(lend(out, self.device))
                    self._check(source, is_forward)
                    self._check(result, not is_forward)
                    if result.is_read_only:
                        raise c.Error("an array for the result that is read-only")
                    for stream in {source.stream, result.stream} - {None}:
                        self.device.finish(stream)
            if are_on_device:
                c.call(name, self._handle, source.location, result.location, factor)
                return out
        return super()._transform(array, out, is_forward, scaling)
