"""Devices: accelerators that have their own memory, reached by OpenCL or by CUDA's driver; arrays in that memory."""

import ctypes
import os
import weakref
from contextlib import contextmanager
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from penstock import _dlpack
from penstock import _library as c
from penstock.team import Team, end

_CUDA_DEFAULT_STREAM = 1  # as DLPack, __cuda_array_interface__ and CUDA's driver number it
_CL_MEM_READ_ONLY = 4


class DeviceProperties(NamedTuple):
    """What a device is; bytes and items are of a work-group at most where they are not of the device."""

    selector: str  # by which open_device finds it, as "cuda:0"; empty where it is not listed
    name: str
    driver: str
    memory_bytes: int  # of the device
    local_memory_bytes: int
    group_items: int
    compute_units: int
    has_double: bool
    is_host: bool  # the host's processors: device memory is host memory


def _properties_of(given: c.DeviceProperties) -> DeviceProperties:
    interface = ("cuda", "opencl")[given.interface]
    return DeviceProperties(
        selector=f"{interface}:{given.number}" if given.number >= 0 else "",
        name=given.name.decode(errors="replace"),
        driver=given.driver.decode(errors="replace"),
        memory_bytes=given.memory_bytes,
        local_memory_bytes=given.local_memory_bytes,
        group_items=given.group_items,
        compute_units=given.compute_units,
        has_double=bool(given.has_double),
        is_host=bool(given.is_host),
    )


def devices() -> List[DeviceProperties]:
    """The devices of this system: those of CUDA, then those of OpenCL. Empty where there is neither."""
    count = ctypes.c_size_t()
    c.call("penstock_device_list", None, 0, ctypes.byref(count))
    found = (c.DeviceProperties * count.value)()
    c.call("penstock_device_list", found, len(found), ctypes.byref(count))
    return [_properties_of(one) for one in found]


class Device:
    """An open device: see open_device. It stays open as long as what was made with it."""

    def __init__(self, handle: ctypes.c_void_p, context: Optional[int] = None):
        self._handle = handle
        self._context = context  # of pyopencl, which it was opened from
        weakref.finalize(self, end, os.getpid(), "penstock_device_destroy", handle)
        given = c.library.penstock_device_describe(handle)
        self.properties = _properties_of(given)
        self._cuda_number = given.number if given.interface == 0 else None

    def __repr__(self) -> str:
        return f"<penstock.Device {self.properties.selector} {self.properties.name}>"

    @property
    def available_bytes(self) -> int:
        """The device memory that is free now; of OpenCL, which does not tell, all that the device has."""
        found = ctypes.c_uint64()
        c.call("penstock_device_available_bytes", self._handle, ctypes.byref(found))
        return found.value

    def finish(self, stream: int) -> None:
        """Waits for the work of a stream of the program's own: a CUstream or a cl_command_queue, as its number."""
        c.call("penstock_device_finish", self._handle, stream)


def open_device(selector="any", comm=None) -> Device:
    """Collective: opens a device for each rank of `comm`, a communicator or a Team; None: of this process alone.

    selector: "cuda:N" or "opencl:N", the N-th of its interface; "any": the accelerators of each node go to its ranks in
    turn, and a node without one has its first device; or a pyopencl.Context of one device, whose arrays and buffers can
    then be transformed. Raises penstock.Error on every rank, with the devices that there are.
    """
    team = comm if isinstance(comm, Team) else Team(comm)
    handle = ctypes.c_void_p()
    if isinstance(selector, str):
        c.call("penstock_device_open", team._handle, selector.encode(), ctypes.byref(handle))
        return Device(handle)
    with team.together():
        found = getattr(selector, "devices", ())
        if not hasattr(selector, "int_ptr") or len(found) != 1:
            raise c.Error(f"{selector!r} is no device: give its name, or a context of pyopencl that has one device")
        c.call("penstock_device_open_opencl", selector.int_ptr, found[0].int_ptr, ctypes.byref(handle))
    return Device(handle, selector.int_ptr)


class DeviceArray:
    """An array in the memory of a device, which it owns. Its numbers are undefined at first.

    device: an open one. dtype: any of NumPy's numbers. strides: in bytes, none of them negative; None: C order. Other
    libraries take it without a copy where the device is CUDA's: cupy.from_dlpack(array), torch.from_dlpack(array).
    Raises penstock.Error where the device has no room.
    """

    def __init__(
        self, device: Device, shape: Sequence[int], dtype=np.complex128, strides: Optional[Sequence[int]] = None
    ):
        self.device = device
        self.shape = tuple(int(n) for n in shape)
        self.dtype = np.dtype(dtype)
        if self.dtype.kind not in "iufc" or any(n < 0 for n in self.shape):
            raise c.Error(f"an array of {self.dtype} and shape {self.shape}: give numbers, and extents that can be")
        c_order = [self.dtype.itemsize * int(np.prod(self.shape[i + 1 :], dtype=np.int64)) for i in range(self.ndim)]
        self.strides = tuple(c_order if strides is None else (int(s) for s in strides))
        if len(self.strides) != self.ndim or any(s < 0 or s % self.dtype.itemsize for s in self.strides):
            raise c.Error(f"strides {self.strides}: give one for each axis, whole numbers of {self.dtype}")
        last = sum((n - 1) * stride for n, stride in zip(self.shape, self.strides))
        self._elements = 0 if 0 in self.shape else last // self.dtype.itemsize + 1
        handle = ctypes.c_void_p()
        c.call("penstock_device_memory_create", device._handle, self.nbytes, ctypes.byref(handle))
        self._location = c.library.penstock_device_memory_location(handle)
        weakref.finalize(self, end, os.getpid(), "penstock_device_memory_destroy", handle)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes from the first number to the last."""
        return self._elements * self.dtype.itemsize

    def _new_on_host(self) -> np.ndarray:
        memory = np.zeros(max(self._elements, 1), self.dtype)
        return np.lib.stride_tricks.as_strided(memory, self.shape, self.strides)

    def from_host(self, array) -> "DeviceArray":
        """Copies numbers of the host into this array; they are converted to its type where that is of their kind.

        Returns this array.
        """
        array = np.asarray(array)
        if array.shape != self.shape or not np.can_cast(array.dtype, self.dtype, "same_kind"):
            raise c.Error(
                f"an array of {array.dtype} and shape {array.shape}: the device's is of {self.dtype} and {self.shape}"
            )
        if array.dtype != self.dtype or array.strides != self.strides:
            given, array = array, self._new_on_host()
            np.copyto(array, given, casting="same_kind")
        c.call("penstock_copy_to_device", self.device._handle, self._location, array.ctypes.data, self.nbytes)
        return self

    def to_host(self) -> np.ndarray:
        """A copy of this array in host memory, with the same strides."""
        array = self._new_on_host()
        c.call("penstock_copy_to_host", self.device._handle, array.ctypes.data, self._location, self.nbytes)
        return array

    def __dlpack_device__(self) -> Tuple[int, int]:
        """CUDA, and the number of the device."""
        if self.device._cuda_number is None:
            raise c.Error(f"other libraries take memory of CUDA's devices, and not of {self.device.properties.name}")
        return _dlpack.CUDA, self.device._cuda_number

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A capsule of this memory. No stream needs to wait: copies and transforms are done when they return."""
        device = self.__dlpack_device__()
        if copy or dl_device not in (None, device):
            raise BufferError("memory of a device is lent as it is, without a copy")
        return _dlpack.lend(self, device, self._location.handle, self.shape, self.strides, self.dtype)


class Lent(NamedTuple):
    """An array in the memory of a device, lent for a call."""

    location: c.Location
    nbytes: Optional[int] = None  # None: its shape tells
    shape: Tuple[int, ...] = ()
    strides: Tuple[int, ...] = ()  # in bytes
    dtype: Optional[np.dtype] = None
    is_read_only: bool = False
    stream: Optional[int] = None  # to wait for before the array is used


def is_on_device(array) -> bool:
    """Whether the array is in device memory, by what it offers."""
    if array is None or isinstance(array, np.ndarray):
        return False
    if isinstance(array, DeviceArray) or hasattr(array, "base_data") or hasattr(array, "int_ptr"):
        return True
    if hasattr(array, "__dlpack_device__"):
        return array.__dlpack_device__()[0] not in (_dlpack.CPU, _dlpack.CUDA_HOST)
    return hasattr(array, "__cuda_array_interface__")


def _check_cuda(device: Device, number: Optional[int]) -> None:
    if device._cuda_number is None:
        raise c.Error(f"an array in the memory of CUDA, and the plan is on {device.properties.name}")
    if number not in (None, device._cuda_number):
        raise c.Error(f"an array on device {number} of CUDA, and the plan is on device {device._cuda_number}")


def _own(array: DeviceArray, device: Device) -> Lent:
    is_cuda = device._cuda_number is not None
    if array.device is not device and not (is_cuda and array.device._cuda_number == device._cuda_number):
        raise c.Error(f"an array of {array.device}, and the plan is on {device}: give it one of the same open device")
    # Another library may have been lent the array, and may still be at work on it.
    stream = _CUDA_DEFAULT_STREAM if is_cuda else None
    return Lent(array._location, None, array.shape, array.strides, array.dtype, False, stream)


@contextmanager
def _of_dlpack(array, device: Device) -> Iterator[Lent]:
    kind, number = array.__dlpack_device__()
    if kind not in (_dlpack.CUDA, _dlpack.CUDA_MANAGED):
        raise c.Error(f"an array in memory that is neither the host's nor CUDA's: DLPack's type of device {int(kind)}")
    _check_cuda(device, number)
    # The plan's streams are ordered with no others: the owner brings its work before CUDA's default stream, for which
    # the transform then waits.
    taken = _dlpack.take(array.__dlpack__(stream=_CUDA_DEFAULT_STREAM))
    try:
        _check_cuda(device, taken.device[1])
        if taken.dtype is None:
            raise c.Error("an array of numbers that NumPy does not have")
        location = c.Location(taken.address, 0)
        yield Lent(location, None, taken.shape, taken.strides, taken.dtype, taken.is_read_only, _CUDA_DEFAULT_STREAM)
    finally:
        taken.release()


def _of_cuda(array, device: Device) -> Lent:
    given = array.__cuda_array_interface__
    _check_cuda(device, None)  # the interface does not tell the device's number
    if given.get("mask") is not None:
        raise c.Error("an array with a mask: give it without")
    address, is_read_only = given["data"]
    shape, dtype = tuple(given["shape"]), np.dtype(given["typestr"])
    strides = given.get("strides")
    if strides is None:
        strides = [dtype.itemsize * int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape))]
    # Version 3 names the stream of the array's work, None where there is none; before, that may be the default stream.
    stream = given.get("stream", _CUDA_DEFAULT_STREAM)
    return Lent(c.Location(address or 0, 0), None, shape, tuple(strides), dtype, is_read_only, stream)


def _of_pyopencl(array, device: Device) -> Lent:
    is_array = hasattr(array, "base_data")
    buffer = array.base_data if is_array else array
    if not hasattr(buffer, "int_ptr") or not hasattr(buffer, "context"):
        raise c.Error(f"{type(array).__name__} is no array or buffer of pyopencl that can be transformed")
    if device._context != buffer.context.int_ptr:
        raise c.Error("an array of a context of pyopencl that the device was not opened from: see penstock.open_device")
    is_read_only = bool(buffer.flags & _CL_MEM_READ_ONLY)
    if not is_array:
        return Lent(c.Location(buffer.int_ptr, 0), buffer.size, is_read_only=is_read_only)
    array.finish()  # what other queues do, as far as the array knows
    stream = array.queue.int_ptr if array.queue is not None else None
    location = c.Location(buffer.int_ptr, array.offset)
    return Lent(location, None, array.shape, array.strides, array.dtype, is_read_only, stream)


@contextmanager
def lend(array, device: Device) -> Iterator[Lent]:
    """An array in the memory of `device`, lent for the block. Raises Error where it is none."""
    if isinstance(array, DeviceArray):
        yield _own(array, device)
    elif not is_on_device(array):
        raise c.Error("an array in host memory and one in device memory: give both in one of them")
    elif hasattr(array, "base_data") or hasattr(array, "int_ptr"):
        yield _of_pyopencl(array, device)
    elif hasattr(array, "__dlpack_device__"):
        with _of_dlpack(array, device) as lent:
            yield lent
    else:
        yield _of_cuda(array, device)
