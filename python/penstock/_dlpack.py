"""DLPack by ctypes: what other libraries lend as capsules, and capsules of our own."""

import ctypes
from typing import Callable, NamedTuple, Optional, Tuple

import numpy as np

from penstock._library import Error

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
_CODES = {0: "i", 1: "u", 2: "f", 5: "c"}
# A capsule keeps the pointer to its name: these live as long as the module.
_NAME, _USED = b"dltensor", b"used_dltensor"
_VERSIONED, _VERSIONED_USED = b"dltensor_versioned", b"used_dltensor_versioned"
_READ_ONLY = 1

_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Tensor(ctypes.Structure):
    """DLTensor"""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    """DLManagedTensor"""

    _fields_ = [("tensor", _Tensor), ("manager_ctx", ctypes.c_void_p), ("deleter", _Deleter)]


class _ManagedVersioned(ctypes.Structure):
    """DLManagedTensorVersioned"""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


class Lent(NamedTuple):
    """What a capsule has lent: memory of a device until `release` is called, which must be called once."""

    device: Tuple[int, int]
    address: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]  # in bytes
    dtype: Optional[np.dtype]  # None: one that NumPy does not have
    is_read_only: bool
    release: Callable[[], None]


def _of_python(name: str, result, *arguments):
    """A function of Python's own interface."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_new = _of_python("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_name_of = _of_python("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object)
_pointer_of = _of_python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_rename = _of_python("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
# Of a capsule that is ending, which no reference may be made to.
_is_named = _of_python("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_ending_pointer_of = _of_python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)


def _dtype_of(tensor: _Tensor) -> Optional[np.dtype]:
    try:
        return np.dtype(f"{_CODES[tensor.code]}{tensor.bits // 8}") if tensor.lanes == 1 else None
    except (KeyError, TypeError):
        return None


def take(capsule) -> Lent:
    """Takes what a capsule lends, which no other can then take. Raises Error for one that has nothing to lend."""
    try:
        name = _name_of(capsule)
    except (TypeError, ValueError):
        raise Error("an array whose __dlpack__ gives no capsule") from None
    kinds = {_NAME: (_Managed, _USED), _VERSIONED: (_ManagedVersioned, _VERSIONED_USED)}
    if name not in kinds:
        named = (name or b"").decode()
        raise Error(f"a capsule of DLPack that cannot be taken, or was taken before: its name is '{named}'")
    structure, used = kinds[name]
    address = _pointer_of(capsule, name)
    managed = structure.from_address(address)
    if getattr(managed, "major", 1) > 1:
        raise Error(f"a capsule of DLPack {managed.major}.{managed.minor}: 1 is known")
    _rename(capsule, used)
    tensor = managed.tensor
    dtype = _dtype_of(tensor)
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    bytes_of_number = tensor.bits * tensor.lanes // 8
    if tensor.strides:
        strides = tuple(tensor.strides[i] * bytes_of_number for i in range(tensor.ndim))
    else:
        strides = tuple(int(np.prod(shape[i + 1 :], dtype=np.int64)) * bytes_of_number for i in range(tensor.ndim))
    return Lent(
        device=(tensor.device_type, tensor.device_id),
        address=(tensor.data or 0) + tensor.byte_offset,
        shape=shape,
        strides=strides,
        dtype=dtype,
        is_read_only=bool(getattr(managed, "flags", 0) & _READ_ONLY),
        release=lambda: managed.deleter(address) if managed.deleter else None,
    )


_lent = {}  # by their addresses: what capsules of ours point to, and what keeps its memory


@_Deleter
def _end(address, lent=_lent):
    """The deleter of our capsules; those who took one may call it from any thread, without Python's lock."""
    lent.pop(address, None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _end_untaken(capsule, is_named=_is_named, pointer_of=_ending_pointer_of, end=_end, name=_NAME):
    """The destructor of our capsules."""
    if is_named(capsule, name):
        end(pointer_of(capsule, name))


def lend(owner, device: Tuple[int, int], address: int, shape, strides, dtype: np.dtype):
    """A capsule of memory at `address`, which `owner` keeps. Strides are in bytes."""
    lengths = (ctypes.c_int64 * len(shape))(*shape)
    steps = (ctypes.c_int64 * len(shape))(*(stride // dtype.itemsize for stride in strides))
    code = next(code for code, kind in _CODES.items() if kind == dtype.kind)
    pointer = ctypes.POINTER(ctypes.c_int64)
    tensor = _Tensor(address, *device, len(shape), code, 8 * dtype.itemsize, 1)
    tensor.shape = ctypes.cast(lengths, pointer)
    tensor.strides = ctypes.cast(steps, pointer)
    managed = _Managed(tensor, None, _end)
    _lent[ctypes.addressof(managed)] = (managed, lengths, steps, owner)
    return _new(ctypes.addressof(managed), _NAME, ctypes.cast(_end_untaken, ctypes.c_void_p))
