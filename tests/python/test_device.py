"""Devices from Python, beside NumPy: test_device.py, or under mpirun with mpi4py: test_device.py --mpi.

With the imitation of CUDA (tests/device) it tests what arrays of other libraries go through. On a system without a
device nothing runs but what is said there.
"""

import ctypes
import gc
import os
import re
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
import penstock  # noqa: E402
from penstock import _dlpack  # noqa: E402

try:
    import pyopencl
    import pyopencl.array
except ImportError:
    pyopencl = None

COMM = None
if "--mpi" in sys.argv:
    sys.argv.remove("--mpi")
    from mpi4py import MPI

    COMM = MPI.COMM_WORLD
SHAPE = (11, 8, 10)
DEVICES = penstock.devices()
HAS_CUDA = any(one.selector.startswith("cuda") for one in DEVICES)


def noise(dtype, shape=SHAPE):
    """The same field on every rank."""
    random = np.random.default_rng(7)
    field = random.standard_normal(shape)
    return (field + 1j * random.standard_normal(shape) if np.dtype(dtype).kind == "c" else field).astype(dtype)


def spectrum_of(field, axes=(0, 1, 2)):
    return (np.fft.rfftn if field.dtype.kind == "f" else np.fft.fftn)(field, axes=axes)


class Compared(unittest.TestCase):
    def compare(self, found, expected):
        precision = 1e-5 if found.dtype in (np.float32, np.complex64) else 1e-13
        scale = max(1.0, float(np.abs(expected).max(initial=0)))
        self.assertEqual(found.shape, expected.shape)
        self.assertLess(float(np.abs(found - expected).max(initial=0)), precision * scale)

    def refuses(self, part, make):
        with self.assertRaises(penstock.Error) as raised:
            make()
        self.assertIn(part, str(raised.exception))
        self.assertNotIn("\n", str(raised.exception))


@unittest.skipIf(DEVICES, "there is a device")
class WithoutDevices(Compared):
    def test_a_plan_says_so(self):
        self.refuses("has no device", lambda: penstock.DevicePlan(SHAPE, COMM))


@unittest.skipUnless(DEVICES, "this system has no device")
class Devices(Compared):
    def test_they_are_listed_and_opened_by_their_names(self):
        for properties in DEVICES:
            device = penstock.open_device(properties.selector, COMM)
            self.assertEqual(device.properties, properties)
            self.assertTrue(properties.name and properties.driver and properties.compute_units > 0)
            self.assertTrue(0 < device.available_bytes <= properties.memory_bytes)
        self.assertIn(penstock.open_device(comm=COMM).properties, DEVICES)

    def test_what_is_none_is_refused_on_every_rank(self):
        is_bad = COMM is None or COMM.rank == COMM.size - 1
        self.refuses(DEVICES[0].selector, lambda: penstock.open_device("opencl:99" if is_bad else "any", COMM))
        if COMM is None:
            self.refuses("no device", lambda: penstock.open_device(7))
            self.refuses("no device", lambda: penstock.open_device(object()))

    def test_arrays_go_there_and_back(self):
        device = penstock.open_device()
        for array in (
            noise("f8"),
            noise("c8")[:, 3],
            np.asfortranarray(noise("f4")),
            np.arange(7, dtype="i2"),
            np.zeros((0, 3)),
            np.array(5.5),
        ):
            there = penstock.DeviceArray(device, array.shape, array.dtype)
            self.assertIs(there.from_host(array), there)
            back = there.to_host()
            self.assertEqual((back.dtype, there.nbytes), (array.dtype, array.nbytes))
            np.testing.assert_array_equal(back, array)
        turned = penstock.DeviceArray(device, (3, 4), "f4", strides=(4, 12)).from_host(np.arange(12).reshape(3, 4))
        self.assertEqual(turned.to_host().strides, (4, 12))
        np.testing.assert_array_equal(turned.to_host(), np.arange(12).reshape(3, 4))
        del device
        gc.collect()
        np.testing.assert_array_equal(turned.to_host(), np.arange(12).reshape(3, 4))

    def test_arrays_that_cannot_be_are_refused(self):
        device = penstock.open_device()
        for part, make in (
            ("no room", lambda: penstock.DeviceArray(device, (1 << 40,))),
            ("bool", lambda: penstock.DeviceArray(device, (3,), bool)),
            ("extents", lambda: penstock.DeviceArray(device, (3, -1))),
            ("strides", lambda: penstock.DeviceArray(device, (3, 2), "f8", (16, -8))),
            ("strides", lambda: penstock.DeviceArray(device, (3, 2), "f8", (8,))),
            ("(3,)", lambda: penstock.DeviceArray(device, (3,)).from_host(np.zeros(4))),
            ("complex128", lambda: penstock.DeviceArray(device, (3,), "f8").from_host(np.zeros(3, "c16"))),
        ):
            self.refuses(part, make)


@unittest.skipUnless(DEVICES, "this system has no device")
class Transforms(Compared):
    def test_fields_of_all_types_on_the_device_and_on_the_host(self):
        for dtype in ("f4", "f8", "c8", "c16"):
            field = noise(dtype)
            plan = penstock.DevicePlan(SHAPE, COMM, dtype)
            expected = spectrum_of(field)[plan.output_slices]
            mine = field[plan.input_slices]
            spectrum = plan.forward(mine)
            self.assertIsInstance(spectrum, np.ndarray)
            self.compare(spectrum, expected)
            self.compare(plan.backward(spectrum), mine)
            there = plan.new_input().from_host(mine)
            spectrum = plan.forward(there)
            self.assertIsInstance(spectrum, penstock.DeviceArray)
            self.compare(spectrum.to_host(), expected)
            out = plan.new_input()
            self.assertIs(plan.backward(spectrum, out=out), out)
            self.compare(out.to_host(), mine)
            self.assertGreater(plan.last_times["total_s"], 0)

    def test_batches_axes_outputs_and_parts_are_the_users(self):
        fields = np.stack([noise("f8"), 2 * noise("f8"), 1 - noise("f8")])
        plan = penstock.DevicePlan(SHAPE, COMM, "f8", fields=3, as_input=True, device=DEVICES[0].selector)
        spectra = plan.forward(plan.new_input().from_host(fields[(slice(None), *plan.input_slices)]), scaling="full")
        expected = spectrum_of(fields, (1, 2, 3)) / noise("f8").size
        self.compare(spectra.to_host(), expected[(slice(None), *plan.output_slices)])
        team = penstock.Team(COMM)
        bounds = [SHAPE[0] * i // team.size for i in range(team.size + 1)]
        slices = (slice(bounds[team.rank], bounds[team.rank + 1]), slice(0, SHAPE[1]), slice(0, SHAPE[2]))
        parts = {"input_slices": slices, "output_slices": slices, "output_order": (0, 1, 2)}
        plan = penstock.DevicePlan(SHAPE, team, axes=(1, 2), **parts)
        spectrum = plan.forward(plan.new_input().from_host(noise("c16")[slices]))
        self.compare(spectrum.to_host(), spectrum_of(noise("c16"), (1, 2))[slices])

    def test_what_cannot_be_is_one_sentence_on_every_rank(self):
        for part, make in (
            ("plan for the processor", lambda: penstock.DevicePlan(SHAPE, COMM, "f8", kinds="redft10")),
            ("plan for the processor", lambda: penstock.DevicePlan(SHAPE, COMM, interleaved=2)),
            ("0 points", lambda: penstock.DevicePlan((11, 8, 0), COMM)),
            ("no device", lambda: penstock.DevicePlan(SHAPE, COMM, device=b"any")),
            ("on a device", lambda: penstock.DevicePlan(SHAPE, COMM).start_forward(self.mine())),
        ):
            self.refuses(part, make)

    def mine(self):
        return noise("c16")[penstock.Plan(SHAPE, COMM).input_slices]

    def test_arrays_that_do_not_fit_are_refused_on_every_rank(self):
        team = penstock.Team(COMM)
        is_bad = team.rank == team.size - 1
        device = penstock.open_device(comm=team)

        def like(array, shape=None, dtype=None, strides=None):
            given = shape or array.shape, dtype or array.dtype, None if shape else strides or array.strides
            return penstock.DeviceArray(device, *given)

        for part, change in (
            ("complex64", lambda u, v: (like(u, dtype="c8", strides=tuple(s // 2 for s in u.strides)), v)),
            ("(1, 2, 3)", lambda u, v: (like(u, shape=(1, 2, 3)), v)),
            ("strides", lambda u, v: (u, like(v, strides=tuple(2 * s for s in v.strides)))),
            ("host memory", lambda u, v: (u.to_host(), v)),
            ("host memory", lambda u, v: (u, v.to_host())),
            ("host memory", lambda u, v: (object(), v)),
        ):
            plan = penstock.DevicePlan((16, 16, 16), team, device=device)
            arrays = plan.new_input(), plan.new_output()
            mine = change(*arrays) if is_bad else arrays
            if is_bad:
                self.refuses(part, lambda: plan.forward(*mine))
                continue
            with self.assertRaises(penstock.Error):
                plan.forward(*mine)
                plan.forward(*arrays)  # where the first call needed nothing of the bad rank

    def test_arrays_of_another_open_device_are_refused(self):
        plan = penstock.DevicePlan(SHAPE, COMM, device="opencl:0")
        other = penstock.DeviceArray(penstock.open_device("opencl:0"), plan.input_shape)
        self.refuses("the same open device", lambda: plan.forward(other))

    def test_the_program_of_the_documentation(self):
        page = (Path(__file__).parents[2] / "docs" / "devices.md").read_text()
        (program,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        exec(compile(program, "docs/devices.md", "exec"), {"comm": COMM})


@unittest.skipUnless(DEVICES and pyopencl and not HAS_CUDA, "beside pyopencl, where OpenCL is not imitating CUDA")
class Opencl(Compared):
    def setUp(self):
        found = pyopencl.get_platforms()[0].get_devices()[0]
        self.context = pyopencl.Context([found])
        self.queue = pyopencl.CommandQueue(self.context)
        self.device = penstock.open_device(self.context, COMM)

    def array(self, plan, is_input, numbers=None, offset=0):
        """One of pyopencl, as the plan takes it, some bytes into a buffer."""
        like = plan.new_input() if is_input else plan.new_output()
        data = pyopencl.Buffer(self.context, pyopencl.mem_flags.READ_WRITE, like.nbytes + offset)
        if numbers is not None:
            laid_out = np.lib.stride_tricks.as_strided(np.zeros(like.nbytes // like.dtype.itemsize, like.dtype),
                                                       like.shape, like.strides)
            laid_out[...] = numbers
            flat = np.lib.stride_tricks.as_strided(laid_out, (laid_out.size,), (like.dtype.itemsize,))
            pyopencl.enqueue_copy(self.queue, data, flat, dst_offset=offset, is_blocking=False)
            self.queued = flat  # until the plan has waited for the queue
        return pyopencl.array.Array(self.queue, like.shape, like.dtype, strides=like.strides, data=data, offset=offset)

    def host(self, array):
        numbers = np.zeros(array.size, array.dtype)
        pyopencl.enqueue_copy(self.queue, numbers, array.base_data, src_offset=array.offset)
        return np.lib.stride_tricks.as_strided(numbers, array.shape, array.strides)

    def test_arrays_and_buffers_are_transformed(self):
        self.assertEqual(self.device.properties, penstock.open_device("opencl:0").properties)
        for dtype in ("f4", "f8", "c8", "c16"):
            field = noise(dtype)
            plan = penstock.DevicePlan(SHAPE, COMM, dtype, device=self.device)
            expected = spectrum_of(field)[plan.output_slices]
            out = self.array(plan, False, offset=256)
            u = self.array(plan, True, field[plan.input_slices], offset=128)
            self.assertIs(plan.forward(u, out), out)
            self.compare(self.host(out), expected)
            self.compare(plan.forward(u).to_host(), expected)
            back = self.array(plan, True)
            self.assertIs(plan.backward(out, back.base_data), back.base_data)
            self.compare(self.host(back), field[plan.input_slices])

    @unittest.skipIf(COMM is not None and COMM.size > 1, "of one process")
    def test_what_cannot_be_is_refused(self):
        plan = penstock.DevicePlan(SHAPE, COMM, device=self.device)
        flags = pyopencl.mem_flags
        other = pyopencl.Context(self.context.devices)
        of_other = pyopencl.array.zeros(pyopencl.CommandQueue(other), plan.input_shape, "c16")
        for part, array, out in (
            ("was not opened from", of_other, None),
            ("was not opened from", plan.new_input(), pyopencl.Buffer(other, flags.READ_WRITE, 1 << 20)),
            ("read-only", plan.new_input(), pyopencl.Buffer(self.context, flags.READ_ONLY, 1 << 20)),
            ("1000 bytes", pyopencl.Buffer(self.context, flags.READ_WRITE, 1000), None),
            ("complex64", pyopencl.array.zeros(self.queue, plan.input_shape, "c8"), None),
            ("strides", pyopencl.array.zeros(self.queue, plan.input_shape, "c16", order="F"), None),
        ):
            plan = penstock.DevicePlan(SHAPE, COMM, device=self.device)
            self.refuses(part, lambda: plan.forward(array, out))
        plan = penstock.DevicePlan(SHAPE, COMM, device="opencl:0")
        self.refuses("was not opened from", lambda: plan.forward(self.array(plan, True)))


class Managed(ctypes.Structure):
    """A DLManagedTensor, as its documentation has it."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ]


class Versioned(ctypes.Structure):
    """The head of a DLManagedTensorVersioned; its tensor is as in the other."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("flags", ctypes.c_uint64),
        ("tensor", ctypes.c_byte * 48),
    ]


class Foreign:
    """An array of another library, in memory of CUDA that a DeviceArray stands for."""

    def __init__(self, owner, flags=None, major=1, name=None, has_strides=True, **changes):
        self.owner, self.flags, self.major, self.has_strides, self.changes = owner, flags, major, has_strides, changes
        self.name = name or (b"dltensor" if flags is None else b"dltensor_versioned")
        self.streams, self.deleted, self.capsules = [], 0, []

    def __dlpack_device__(self):
        return self.changes.get("device_type", 2), self.changes.get("device_id", 0)

    def delete(self, _):
        self.deleted += 1

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        item = self.owner.dtype.itemsize
        ndim = len(self.owner.shape)
        self.shape = (ctypes.c_int64 * ndim)(*self.owner.shape)
        self.strides = (ctypes.c_int64 * ndim)(*(s // item for s in self.owner.strides))
        pointer = ctypes.POINTER(ctypes.c_int64)
        deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.delete)
        managed = Managed(
            # The address is before the data by the offset.
            self.owner._location.handle - 64, 2, 0, ndim, {"f": 2, "c": 5}[self.owner.dtype.kind], 8 * item, 1,
            ctypes.cast(self.shape, pointer), ctypes.cast(self.strides, pointer) if self.has_strides else None, 64,
        )
        for name, value in self.changes.items():
            setattr(managed, name, value)
        managed.deleter = deleter
        if self.flags is not None:
            head = Versioned(self.major, 0, None, deleter, self.flags)
            ctypes.memmove(head.tensor, ctypes.addressof(managed), 48)
            managed = head
        self.kept = managed, deleter
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsules.append(new(ctypes.addressof(managed), self.name, None))
        return self.capsules[-1]


class Interface:
    """An array with __cuda_array_interface__ alone."""

    def __init__(self, owner, **changes):
        self.owner = owner
        self.__cuda_array_interface__ = {
            "shape": owner.shape, "strides": owner.strides, "typestr": owner.dtype.str, "version": 3, "stream": None,
            "data": (owner._location.handle, False), **changes,
        }


@unittest.skipUnless(HAS_CUDA, "there is no CUDA, nor its imitation")
class Cuda(Compared):
    def setUp(self):
        self.device = penstock.open_device("cuda:0", COMM)

    def plan(self, dtype="c16"):
        return penstock.DevicePlan(SHAPE, COMM, dtype, device=self.device)

    def test_arrays_with_dlpack_are_transformed_and_let_go_once(self):
        for dtype in ("f4", "f8", "c8", "c16"):
            for flags in (None, 0):
                plan, field = self.plan(dtype), noise(dtype)
                u = Foreign(plan.new_input().from_host(field[plan.input_slices]), flags, has_strides=flags is None)
                out = Foreign(plan.new_output(), flags)
                self.assertIs(plan.forward(u, out), out)
                for one in (u, out):
                    self.assertEqual((one.streams, one.deleted), ([1], 1))
                self.compare(out.owner.to_host(), spectrum_of(field)[plan.output_slices])
                self.compare(plan.backward(out).to_host(), field[plan.input_slices])
                self.assertEqual((out.streams, out.deleted), ([1, 1], 2))

    def test_arrays_with_the_interface_of_cuda_are_transformed(self):
        plan, field = self.plan("f8"), noise("f8")
        u = Interface(plan.new_input().from_host(field[plan.input_slices]), strides=None)
        out = plan.new_output()
        plan.forward(u, Interface(out))
        self.compare(out.to_host(), spectrum_of(field)[plan.output_slices])

    @unittest.skipUnless(os.environ.get("PENSTOCK_TEST_IMITATION"), "only the imitation counts")
    def test_streams_of_the_owners_are_waited_for(self):
        waits = ctypes.CDLL("libcuda.so.1").imitated_waits
        waits.argtypes = [ctypes.c_void_p]
        plan = self.plan()
        own = plan.new_input().from_host(np.zeros(plan.input_shape))
        for array, stream, times in (
            (own, 1, 1),
            (Foreign(own), 1, 1),
            (Interface(own, version=2), 2, 0),
            (Interface(own, stream=2), 2, 1),
            (Interface(own, stream=123456), 123456, 1),
        ):
            before = waits(stream)
            plan.forward(array, Interface(plan.new_output()))
            self.assertEqual(waits(stream) - before, times)

    def test_arrays_that_do_not_fit_are_refused_and_let_go(self):
        whole = self.plan()
        own = whole.new_input()
        for part, array, deleted in (
            ("device 3 of CUDA", Foreign(own, device_id=3), 0),
            ("type of device 10", Foreign(own, device_type=10), 0),
            ("float64", Foreign(own, code=2, bits=64), 1),
            ("NumPy does not have", Foreign(own, code=4, bits=16), 1),
            ("NumPy does not have", Foreign(own, lanes=2), 1),
            ("strides", Foreign(penstock.DeviceArray(self.device, SHAPE, "c16", (16, 176, 1408))), 1),
            ("shape (11, 8)", Foreign(own, ndim=2), 1),
            ("'used_dltensor'", Foreign(own, name=b"used_dltensor"), 0),
            ("DLPack 2.0", Foreign(own, 0, major=2), 0),
            ("mask", Interface(own, mask=own), None),
            ("float32", Interface(own, typestr="<f4"), None),
            ("strides", Interface(own, strides=(16, 176, 1408)), None),
        ):
            with self.subTest(part=part):
                self.refuses(part, lambda: self.plan().forward(array, self.plan().new_output()))
                self.assertEqual(getattr(array, "deleted", None), deleted)
        for array in (Foreign(whole.new_output(), 1), Interface(whole.new_output(), data=(1 << 40, True))):
            self.refuses("read-only", lambda: self.plan().forward(own, array))
        without_capsule = type("Other", (Foreign,), {"__dlpack__": lambda self, stream=None: object()})(own)
        self.refuses("gives no capsule", lambda: self.plan().forward(without_capsule))

    def test_a_capsule_is_taken_once(self):
        u = Foreign(self.plan().new_input())
        capsule = u.__dlpack__()
        again = type("Again", (Foreign,), {"__dlpack__": lambda self, stream=None: capsule})(u.owner)
        self.plan().forward(again)
        self.assertEqual(u.deleted, 1)
        self.refuses("taken before", lambda: self.plan().forward(again))
        self.assertEqual(u.deleted, 1)

    def test_a_plan_on_opencl_takes_no_arrays_of_cuda(self):
        own = self.plan().new_input()
        for array in (Foreign(own), Interface(own)):
            plan = penstock.DevicePlan(SHAPE, COMM, device="opencl:0")
            self.refuses("memory of CUDA", lambda: plan.forward(array))

    def test_our_arrays_are_lent_until_their_taker_lets_go(self):
        gc.collect()
        before = len(_dlpack._lent)
        array = penstock.DeviceArray(self.device, (4, 5), "c8", strides=(8, 32)).from_host(np.ones((4, 5)))
        self.assertEqual(array.__dlpack_device__(), (2, 0))
        array.__dlpack__(stream=1)  # nobody takes it
        self.assertEqual(len(_dlpack._lent), before)
        plan = self.plan()
        field = noise("c16")[plan.input_slices]
        passed_on = type("Taker", (), {"__dlpack__": lambda self, stream: owner.__dlpack__(stream=stream),
                                       "__dlpack_device__": lambda self: owner.__dlpack_device__()})()
        owner = plan.new_input().from_host(field)
        self.compare(plan.backward(plan.forward(passed_on)).to_host(), field)
        self.assertEqual(len(_dlpack._lent), before)
        with self.assertRaises(BufferError):
            array.__dlpack__(copy=True)
        with self.assertRaises(BufferError):
            array.__dlpack__(dl_device=(1, 0))

    def test_numpy_reads_our_capsules_as_we_read_its(self):
        array = penstock.DeviceArray(self.device, (4, 5), "c8", strides=(8, 32))
        capsule = array.__dlpack__()
        managed = _dlpack._Managed.from_address(_dlpack._pointer_of(capsule, b"dltensor"))
        managed.tensor.device_type = _dlpack.CUDA_MANAGED  # which NumPy takes
        before = len(_dlpack._lent)
        del array
        found = np.from_dlpack(type("Once", (), {"__dlpack__": lambda self: capsule,
                                                 "__dlpack_device__": lambda self: (13, 0)})())
        self.assertEqual((found.shape, found.strides, found.dtype), ((4, 5), (8, 32), np.dtype("c8")))
        self.assertEqual(len(_dlpack._lent), before)
        del found
        gc.collect()
        self.assertEqual(len(_dlpack._lent), before - 1)

    def test_an_open_device_may_be_opened_again(self):
        plan = self.plan()
        other = penstock.open_device("cuda:0", COMM)
        field = noise("c16")[plan.input_slices]
        u = penstock.DeviceArray(other, plan.input_shape).from_host(field)
        self.compare(plan.backward(plan.forward(u)).to_host(), field)


class Capsules(Compared):
    def test_of_numpy_are_read(self):
        for array in (noise("f4"), noise("c16")[1:, ::2, 3:7], np.arange(6, dtype="u1"), np.zeros((0, 2))):
            taken = _dlpack.take(array.__dlpack__())
            self.assertEqual((taken.device, taken.shape, taken.dtype), ((1, 0), array.shape, array.dtype))
            self.assertEqual(taken.address, array.ctypes.data)
            if array.size > 0:
                self.assertEqual(taken.strides, array.strides)
            taken.release()


if __name__ == "__main__":
    unittest.main()
