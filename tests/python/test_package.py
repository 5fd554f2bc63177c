"""The Python package beside NumPy and SciPy: test_package.py, or under mpirun with mpi4py: test_package.py --mpi."""

import functools
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
import penstock  # noqa: E402

COMM = None
if "--mpi" in sys.argv:
    sys.argv.remove("--mpi")
    from mpi4py import MPI

    COMM = MPI.COMM_WORLD
SHAPE = (11, 8, 10)


def noise(dtype, shape=SHAPE):
    """The same field on every rank."""
    random = np.random.default_rng(7)
    field = random.standard_normal(shape)
    return (field + 1j * random.standard_normal(shape) if np.dtype(dtype).kind == "c" else field).astype(dtype)


class Transforms(unittest.TestCase):
    def compare(self, found, expected, dtype):
        precision = 1e-5 if np.dtype(dtype).itemsize // (2 if np.dtype(dtype).kind == "c" else 1) == 4 else 1e-13
        scale = max(1.0, float(np.abs(expected).max(initial=0)))
        self.assertLess(float(np.abs(found - expected).max(initial=0)), precision * scale)

    def test_fields_of_all_types_there_and_back(self):
        for dtype in ("f4", "f8", "c8", "c16"):
            field = noise(dtype)
            plan = penstock.Plan(SHAPE, COMM, dtype)
            mine = plan.new_input()
            mine[...] = field[plan.input_slices]
            expected = np.fft.rfftn(field) if np.dtype(dtype).kind == "f" else np.fft.fftn(field)
            spectrum = plan.forward(mine)
            self.assertEqual(spectrum.shape, plan.output_shape)
            self.compare(spectrum, expected[plan.output_slices], dtype)
            self.compare(plan.backward(spectrum), field[plan.input_slices], dtype)
            self.assertGreater(plan.last_times["total_s"], 0)

    def test_arrays_in_any_order_and_of_other_types(self):
        field = noise("f8")
        plan = penstock.Plan(SHAPE, COMM, "f8", as_input=True, threads=2)
        mine = np.asfortranarray(field[plan.input_slices].astype("f4"))
        out = np.zeros(plan.output_shape, "c16", order="F")
        returned = plan.forward(mine, out=out, scaling="full")
        self.assertIs(returned, out)
        expected = np.fft.rfftn(mine_of_all := field.astype("f4").astype("f8")) / mine_of_all.size
        self.compare(out, expected[plan.output_slices], "f8")

    def test_batches_and_executions(self):
        fields = np.stack([noise("c16"), 2 * noise("c16")])
        plan = penstock.Plan(SHAPE, COMM, "c16", fields=2)
        mine = plan.new_input()
        mine[...] = fields[(slice(None), *plan.input_slices)]
        begun = plan.start_forward(mine)
        while not begun.progress():
            pass
        expected = np.fft.fftn(fields, axes=(1, 2, 3))
        self.compare(begun.wait(), expected[(slice(None), *plan.output_slices)], "c16")

    def test_interleaved_fields_lie_beside_each_other(self):
        plan = penstock.Plan(SHAPE, COMM, "c16", interleaved=2, grid=(1, 1 if COMM is None else COMM.size))
        fields = np.stack([noise("c16"), 1j * noise("c16")], axis=-1)
        u = plan.new_input()
        u[...] = fields[plan.input_slices]
        self.compare(plan.forward(u), np.fft.fftn(fields, axes=(0, 1, 2))[plan.output_slices], "c16")
        self.compare(plan.backward(plan.forward(u)), u, "c16")
        with self.assertRaises(penstock.Error):
            penstock.Plan(SHAPE, COMM, fields=2, interleaved=2)

    def test_half_complex_numbers_and_hartleys(self):
        plan = penstock.Plan(SHAPE, COMM, "f8", kinds=(None, None, "dht"), axes=(2,))
        u = noise("f8")[plan.input_slices]
        spectrum = np.fft.fft(u, axis=2)
        self.compare(plan.forward(u), spectrum.real - spectrum.imag, "f8")
        plan = penstock.Plan(SHAPE, COMM, "f8", kinds=(None, None, "r2hc"), axes=(2,))
        n = SHAPE[2]
        halves = [spectrum[..., : n // 2 + 1].real, spectrum[..., 1 : (n + 1) // 2].imag[..., ::-1]]
        self.compare(plan.forward(u), np.concatenate(halves, axis=2), "f8")
        self.compare(plan.backward(plan.forward(u)), u, "f8")

    def test_sines_and_cosines_beside_scipy(self):
        from scipy import fft

        field = noise("f8")
        plan = penstock.Plan(SHAPE, COMM, "f8", kinds=("redft10", "rodft00", "redft00"))
        expected = fft.dct(fft.dst(fft.dct(field, 2, axis=0), 1, axis=1), 1, axis=2)
        self.compare(plan.forward(field[plan.input_slices]), expected[plan.output_slices], "f8")

    def test_some_axes_and_parts_of_ones_own(self):
        team = penstock.Team(COMM)
        bounds = [SHAPE[0] * i // team.size for i in range(team.size + 1)]
        mine = slice(bounds[team.rank], bounds[team.rank + 1])
        slices = (mine, slice(0, SHAPE[1]), slice(0, SHAPE[2]))
        field = noise("c16")
        parts = {"input_slices": slices, "output_slices": slices, "output_order": (0, 1, 2)}
        plan = penstock.Plan(SHAPE, team, axes=(1, 2), **parts)
        self.assertEqual(plan.input_slices, slices)
        self.compare(plan.forward(field[slices]), np.fft.fftn(field, axes=(1, 2))[slices], "c16")

    def test_what_cannot_be_is_one_sentence_on_every_rank(self):
        for make in (
            lambda: penstock.Plan((0, 4, 4), COMM),
            lambda: penstock.Plan((4, 4), COMM),
            lambda: penstock.Plan(SHAPE, COMM, "i4"),
            lambda: penstock.Plan(SHAPE, COMM, kinds="cosine"),
            lambda: penstock.Plan(SHAPE, COMM, threads=0),
            lambda: penstock.Plan(SHAPE, COMM, fields=0),
            lambda: penstock.Plan(SHAPE, COMM, axes=(0, 3)),
            lambda: penstock.Plan(SHAPE, COMM, input_order=(2, 1, 0)),
            lambda: penstock.files.transform("/nowhere/in.npy", "/nowhere/out.npy", COMM),
            lambda: penstock.Plan(SHAPE, COMM).forward(np.zeros((1, 2, 3))),
            lambda: penstock.Plan(SHAPE, COMM).forward(noise("c16"), scaling="half"),
        ):
            with self.assertRaises(penstock.Error) as raised:
                make()
            self.assertNotIn("\n", str(raised.exception))

    def test_what_one_rank_alone_gets_wrong_fails_on_all(self):
        team = penstock.Team(COMM)
        is_bad = team.rank == team.size - 1
        whole = tuple(slice(0, n) for n in SHAPE)
        for make in (
            lambda: penstock.Plan(SHAPE, team, "i4" if is_bad else "f8"),
            lambda: penstock.Plan(SHAPE, team, input_slices=(slice(None),) * 3 if is_bad else whole),
            lambda: penstock.Plan(SHAPE, team, kinds=("redft10",) * (2 if is_bad else 3)),
            lambda: penstock.files.transform("/nowhere/in.npy", "out.npy", team, scaling="half" if is_bad else "full"),
        ):
            with self.assertRaises(penstock.Error):
                make()
        plan = penstock.Plan((16, 16, 16), team)
        mine = np.zeros((1, 2, 3)) if is_bad else plan.new_input()
        with self.assertRaises(penstock.Error):
            plan.forward(mine)
            plan.forward(plan.new_input())  # where the first call needed nothing of the bad rank

    def test_results_go_only_where_they_can(self):
        for wrong in (np.zeros, lambda shape: np.zeros(shape, "i8"), lambda shape: np.zeros(shape, "f8")):
            plan = penstock.Plan(SHAPE, COMM, "c16")
            out = wrong(plan.output_shape)
            out.flags.writeable = wrong is not np.zeros
            with self.assertRaises(penstock.Error):
                plan.forward(plan.new_input(), out=out)
                plan.forward(plan.new_input())
        plan = penstock.Plan(SHAPE, COMM, "f8")
        with self.assertRaises(penstock.Error):
            plan.forward(np.zeros(plan.input_shape, "c16"))
            plan.forward(plan.new_input())
        plan = penstock.Plan(SHAPE, COMM, "f8")
        plan.forward(np.zeros(plan.input_shape, "i4"))

    def test_executions_may_be_forgotten(self):
        plan = penstock.Plan(SHAPE, COMM)
        begun = plan.start_forward(plan.new_input())
        del begun
        gc.collect()
        plan.forward(plan.new_input())
        begun = plan.start_forward(plan.new_input())
        del plan
        begun.wait()


def whole_numbers(dtype, shape, seed=1):
    """Products of these are exact in every type."""
    random = np.random.default_rng(seed)
    field = random.integers(-5, 6, shape)
    return (field + 1j * random.integers(-5, 6, shape) if np.dtype(dtype).kind == "c" else field).astype(dtype)


def turned(array, op):
    return {"none": array, "transpose": array.T, "conjugate_transpose": array.conj().T}[op]


OPS = ("none", "transpose", "conjugate_transpose")


class Multiplies(unittest.TestCase):
    def test_matrices_across_ranks(self):
        for dtype in ("f4", "f8", "c8", "c16"):
            for number, op in enumerate(OPS):
                whole = {
                    "a": whole_numbers(dtype, (9, 7) if op == "none" else (7, 9), 1),
                    "b": whole_numbers(dtype, (7, 8), 2),
                    "c": whole_numbers(dtype, (9, 8), 3),
                }
                a, b, c = self.matrices(whole, dtype, (number, number))
                out = penstock.gemm.multiply(a, b, c, op_a=op, alpha=2, beta=-1)
                self.assertIs(out, c)
                expected = 2 * turned(whole["a"], op) @ whole["b"] - whole["c"]
                np.testing.assert_array_equal(c.local, expected[np.ix_(c.rows, c.columns)])
                np.testing.assert_array_equal(c.get((0, 0), c.shape), expected)
                c.team.barrier()

    def matrices(self, whole, dtype, blocks):
        team = penstock.Team(COMM)
        made = []
        for elements in whole.values():
            matrix = penstock.gemm.Matrix(elements.shape, team, dtype, blocks=blocks)
            matrix.local[...] = elements[np.ix_(matrix.rows, matrix.columns)]
            made.append(matrix)
        return made

    def test_a_result_of_its_own_and_puts(self):
        team = penstock.Team(COMM)
        a, b = penstock.gemm.Matrix((6, 5), team), penstock.gemm.Matrix((5, 4), team)
        whole_a, whole_b = whole_numbers("f8", (6, 5)), whole_numbers("f8", (5, 4))
        if team.rank == team.size - 1:
            a.put((0, 0), whole_a)
            b.put((1, 2), whole_b[1:, 2:])
            b.put((0, 0), np.asfortranarray(whole_b[:, :2]))
            b.put((0, 2), whole_b[:1, 2:])
        team.barrier()
        out = penstock.gemm.multiply(a, b, algorithm="cannon")
        np.testing.assert_array_equal(out.get((0, 0), out.shape), whole_a @ whole_b)
        team.barrier()

    def test_local_elements_are_no_copy_and_keep_the_matrix(self):
        matrix = penstock.gemm.Matrix((4, 4), COMM)
        local = matrix.local
        local[...] = 3
        np.testing.assert_array_equal(matrix.local, np.full(local.shape, 3.0))
        del matrix
        gc.collect()
        local[...] = 4

    def test_arrays_of_one_process(self):
        for dtype in ("f4", "f8", "c8", "c16"):
            for op_a in OPS:
                for op_b in OPS:
                    a = whole_numbers(dtype, (9, 7) if op_a == "none" else (7, 9), 1)
                    b = whole_numbers(dtype, (7, 8) if op_b == "none" else (8, 7), 2)
                    expected = turned(a, op_a) @ turned(b, op_b)
                    for left in (a, np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2]):
                        found = penstock.gemm.multiply(left, b, op_a=op_a, op_b=op_b, threads=2)
                        self.assertEqual(found.dtype, np.dtype(dtype))
                        np.testing.assert_array_equal(found, expected)

    def test_results_in_arrays_of_ones_own(self):
        a, b = whole_numbers("f8", (5, 6)), whole_numbers("f8", (6, 7))
        wide = np.ones((5, 9))
        for out in (wide[:, 1:8], np.ones((7, 5)).T, np.ones((5, 14))[:, ::2]):
            returned = penstock.gemm.multiply(a, b, out, alpha=2, beta=3)
            self.assertIs(returned, out)
            np.testing.assert_array_equal(out, 2 * a @ b + 3)
        self.assertEqual(wide[:, (0, 8)].tolist(), [[1, 1]] * 5)
        square = whole_numbers("f8", (4, 4))
        expected = square @ square
        np.testing.assert_array_equal(penstock.gemm.multiply(square, square, square), expected)
        np.testing.assert_array_equal(penstock.gemm.multiply([[1, 2]], [[3], [4]]), [[11.0]])
        self.assertEqual(penstock.gemm.multiply(np.ones((2, 0)), np.ones((0, 3))).tolist(), [[0] * 3] * 2)

    def test_what_cannot_be_is_one_sentence_on_every_rank(self):
        team = penstock.Team(COMM)
        is_bad = team.rank == team.size - 1
        a, b = penstock.gemm.Matrix((4, 4), team), penstock.gemm.Matrix((4, 4), team)
        other = penstock.gemm.Matrix((4, 4), team, "f4")
        thin = penstock.gemm.Matrix((3, 4), team)
        for part, make in (
            ("two numbers", lambda: penstock.gemm.Matrix((4, 4, 4) if is_bad else (4, 4), team)),
            ("int32", lambda: penstock.gemm.Matrix((4, 4), team, "i4" if is_bad else "f8")),
            ("-4", lambda: penstock.gemm.Matrix((-4 if is_bad else 4, 4), team)),
            ("different types", lambda: penstock.gemm.multiply(a, other if is_bad else b)),
            ("3 x 4", lambda: penstock.gemm.multiply(a, thin)),
            ("an algorithm 'strassen'", lambda: penstock.gemm.multiply(a, b, algorithm="strassen" if is_bad else "cannon")),
            ("'inverse'", lambda: penstock.gemm.multiply(a, b, op_b="inverse" if is_bad else "none")),
            ("arrays and matrices", lambda: penstock.gemm.multiply(a, np.ones((4, 4)) if is_bad else b)),
        ):
            with self.subTest(part), self.assertRaises(penstock.Error) as raised:
                make()
            self.assertIn(part, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))
        ones = np.ones((2, 2))
        for make in (
            lambda: penstock.gemm.multiply(ones, np.ones((3, 2))),
            lambda: penstock.gemm.multiply(ones, np.ones(2)),
            lambda: penstock.gemm.multiply(ones, ones, np.ones((2, 3))),
            lambda: penstock.gemm.multiply(ones, ones, np.ones((2, 2), "f4")),
            lambda: penstock.gemm.multiply(ones, ones, alpha=1j),
            lambda: penstock.gemm.multiply(ones, ones, threads=0),
            lambda: penstock.gemm.multiply(ones.astype("S3"), ones),
            lambda: a.get((2, 2), (3, 3)),
        ):
            with self.assertRaises((penstock.Error, TypeError)):
                make()


class Files(unittest.TestCase):
    def setUp(self):
        self.team = penstock.Team(COMM)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name if COMM is None else COMM.bcast(folder.name)

    def test_a_transform(self):
        source, target, back = (f"{self.folder}/{name}.npy" for name in ("in", "out", "back"))
        if self.team.rank == 0:
            np.save(source, noise("f8"))
        self.team.barrier()
        penstock.files.transform(source, target, self.team, real=True, scaling="full", memory_bytes=1 << 26)
        expected = np.fft.rfftn(noise("f8")) / noise("f8").size
        self.assertLess(np.abs(np.load(target) - expected).max(), 1e-14)
        self.team.barrier()
        penstock.files.transform(target, back, self.team, real=True, backward=True, points_x=SHAPE[2])
        self.assertLess(np.abs(np.load(back) - noise("f8")).max(), 1e-13)
        self.team.barrier()

    def test_a_multiply(self):
        if self.team.rank == 0:
            a, b, c = whole_numbers("c16", (20, 30)), whole_numbers("c16", (25, 20), 2), whole_numbers("c16", (30, 25), 3)
            paths = [f"{self.folder}/{name}.npy" for name in "abc"]
            np.save(paths[0], a)
            np.save(paths[1], np.asfortranarray(b))
            penstock.files.multiply(*paths, op_a="transpose", op_b="conjugate_transpose", alpha=1j, memory_bytes=1 << 26)
            np.testing.assert_array_equal(np.load(paths[2]), 1j * a.T @ b.conj().T)
            np.save(paths[2], c)
            penstock.files.multiply(*paths, op_a="transpose", op_b="transpose", beta=2, threads=2, scratch=False)
            np.testing.assert_array_equal(np.load(paths[2]), a.T @ b.T + 2 * c)
            for wrong in ({"op_a": "inverse"}, {"op_a": "none"}, {"threads": 0}, {"memory_bytes": -1}):
                with self.assertRaises(penstock.Error):
                    penstock.files.multiply(*paths, **wrong)
            with self.assertRaises(penstock.Error):
                penstock.files.multiply(paths[0], paths[1], paths[0], op_b="transpose")
        self.team.barrier()


@unittest.skipIf(COMM is not None or "PENSTOCK_COMMAND" not in os.environ, "of one process beside the command")
class Models(unittest.TestCase):
    def command(self, *arguments):
        run = subprocess.run(
            [os.environ["PENSTOCK_COMMAND"], "model", *arguments, "--json", "-"], capture_output=True, timeout=60, check=True
        )
        return json.loads(run.stdout)

    def test_answers_are_those_of_the_command(self):
        model = penstock.model
        for found, arguments in (
            (
                model.fft("frontier", size=(1024, 1024, 512), nodes=64, planes_per_message="slabs", no_overlap=True),
                "fft --machine frontier --size 1024x1024x512 --nodes 64 --planes-per-message slabs --no-overlap",
            ),
            (
                model.fft("fugaku", sweep="nodes=64..512:x2", set={"n": 2048, "network.link_bandwidth_bytes_per_s": 1e9}),
                "fft --machine fugaku --sweep nodes=64..512:x2 --set n=2048 --set network.link_bandwidth_bytes_per_s=1e9",
            ),
            (
                model.fft("fugaku", size=(4096, 4096, 4096), solve="nodes", time=0.5),
                "fft --machine fugaku --size 4096x4096x4096 --solve nodes --time 0.5",
            ),
            (model.fft(), "fft"),
            (
                model.gemm("frontier", n=1000000, way="out-of-core", memory="64GiB"),
                "gemm --machine frontier --n 1000000 --way out-of-core --memory 64GiB",
            ),
            (model.plan("fugaku", nodes=4, type="r2c"), "plan --machine fugaku --nodes 4 --type r2c"),
            (model.pingpong("infiniband-ddr"), "pingpong --machine infiniband-ddr"),
            (model.topology("bluegene-p", nodes=512, grid=(64, 32), ranks_per_node=4),
             "topology --machine bluegene-p --nodes 512 --grid 64x32 --ranks-per-node 4"),
        ):
            self.assertEqual(found, self.command(*arguments.split()))

    def test_what_cannot_be_is_one_sentence(self):
        for part, make in (
            ("'nonesuch' is no machine", lambda: penstock.model.fft("nonesuch")),
            ("no option --colour", lambda: penstock.model.fft(colour="red")),
            ("must be at least 1", lambda: penstock.model.gemm(n=0)),
            ("--time has a meaning with --solve", lambda: penstock.model.fft(time=1)),
            ("describes no transport", lambda: penstock.model.pingpong("default")),
        ):
            with self.assertRaises(penstock.Error) as raised:
                make()
            self.assertIn(part, str(raised.exception))


@unittest.skipIf(COMM is None, "of programs over MPI")
class ProgramsOfMpi4pyFft(unittest.TestCase):
    """Each as mpi4py-fft's documentation has it, with another import."""

    def compare(self, fft, field, expected, precision=1e-14):
        """Its spectrum of the field beside the expected one, and the way back."""
        u = penstock.newDistArray(fft, False)
        u[:] = field[u.local_slice()]
        u_hat = fft.forward(u, penstock.newDistArray(fft))
        self.assertEqual((fft.global_shape(False), fft.global_shape(True)), (field.shape, expected.shape))
        self.assertEqual((u.shape, u_hat.shape), (fft.shape(False), fft.shape(True)))
        self.assertEqual((u.dtype, u_hat.dtype), (fft.dtype(False), fft.dtype(True)))
        self.assertLess(np.abs(u_hat - expected[fft.local_slice(True)]).max(initial=0), precision)
        uj = np.zeros_like(u)
        self.assertIs(fft.backward(u_hat, uj), uj)
        self.assertLess(np.abs(uj - u).max(initial=0), 10 * precision)

    @staticmethod
    def spectrum(field, axes):
        transform = np.fft.rfftn if field.dtype.kind == "f" else np.fft.fftn
        return transform(field, axes=axes) / np.prod([field.shape[a] for a in axes])

    def test_fields_of_two_three_and_four_axes(self):
        for shape, axes, dtype in (
            ((12, 14, 15), (0, 1, 2), "f8"),
            ((12, 14, 15), (0, 2, 1), "f8"),
            ((12, 14, 15), ((0,), (1, 2)), "c16"),
            ((12, 14, 15), (1,), "f4"),
            ((9, 16), None, "f8"),
            ((9, 16), (1, 0), "f4"),
            ((6, 7, 8, 9), None, "f8"),
            ((6, 7, 8, 9), ((2,), (0, 3)), "c16"),
            ((12, 14, 15), (1, 0, 2), "g"),
            ((6, 7, 8, 9), (3, 1, 0), "G"),
        ):
            with self.subTest(shape=shape, axes=axes, dtype=dtype):
                for collapse in (False, True):
                    fft = penstock.PFFT(COMM, shape, axes=axes, dtype=dtype, collapse=collapse)
                    flat = [a for group in fft.axes for a in group]
                    field = noise(dtype, shape)
                    self.compare(fft, field, self.spectrum(field, flat), 1e-6 if dtype == "f4" else 1e-14)
                    fft.destroy()

    def test_grids_slabs_and_arrays_to_follow(self):
        shape = (12, 9, 10)
        field = noise("f8", shape)
        cart = COMM.Create_cart(MPI.Compute_dims(COMM.Get_size(), [0, 0, 1]))
        for comm, cuts in (
            (COMM, {"grid": (-1,)}),
            (COMM, {"grid": (1, -1)}),
            (COMM, {"grid": (-1, 1, 0), "axes": (0, 2, 1)}),
            (COMM, {"slab": True}),
            (COMM, {"slab": 1}),
            (penstock.Subcomm(COMM, [0, 0, 1]), {}),
            (penstock.Subcomm(cart), {}),
            (None, {"darray": penstock.DistArray(shape, alignment=0)}),
        ):
            with self.subTest(cuts=list(cuts)):
                fft = penstock.PFFT(comm, shape, **cuts)
                flat = [a for group in fft.axes for a in group]
                self.compare(fft, field, self.spectrum(field, flat))
                self.assertEqual(fft.shape(False)[flat[-1]], shape[flat[-1]])
                fft.destroy()
        cart.Free()
        fft = penstock.PFFT(COMM, shape, grid=(1, -1))
        self.assertEqual(fft.shape(False)[::2], shape[::2])
        fft.destroy()

    def test_sines_and_cosines(self):
        from scipy import fft as theirs

        names = {"dctn": (theirs.dctn, theirs.idctn), "dstn": (theirs.dstn, theirs.idstn)}
        for shape, axes, chosen in (
            ((8, 9, 10), ((0,), (1, 2)), {(1, 2): ("dctn", 3)}),
            ((8, 9, 10), ((0, 1), (-1,)), {(0, 1): ("dstn", 2), (-1,): ("dctn", 1)}),
            ((8, 9, 10), ((0, 1), (2,)), {(0, 1): ("dctn", 4)}),
            ((8, 9), ((0,), (1,)), {(0,): ("dctn", 2), (1,): ("dstn", 4)}),
            ((5, 6, 7, 8), ((0,), (1, 2), (3,)), {(1, 2): ("dctn", 3), (3,): ("dstn", 1)}),
        ):
            transforms = {
                group: tuple(functools.partial(function, type=number) for function in names[name])
                for group, (name, number) in chosen.items()
            }
            field = noise("f8", shape)
            expected = field
            for group in reversed(axes):
                if group in transforms:
                    expected = transforms[group][0](expected, axes=group, norm="forward")
                else:
                    transform = theirs.rfftn if expected.dtype.kind == "f" else theirs.fftn
                    expected = transform(expected, axes=group, norm="forward")
            with self.subTest(shape=shape, chosen=chosen):
                fft = penstock.PFFT(COMM, shape, axes=axes, transforms=transforms)
                self.compare(fft, field, expected)
                fft.destroy()
        fft = penstock.PFFT(COMM, (8, 9, 10), collapse=True, transforms={(2,): names["dctn"]})
        self.assertEqual(fft.axes[-1], (2,))  # Fourier's along the others are no cosines along this one
        fft.destroy()

    def test_arrays_of_a_transforms_own(self):
        for shape in ((12, 9, 10), (5, 6, 7, 8)):
            fft = penstock.PFFT(COMM, shape)
            u = noise("f8", shape)[fft.local_slice(False)]
            fft.forward.input_array[...] = u
            fft.forward()
            fft.backward.input_array[...] *= 2
            fft.backward()
            self.assertLess(np.abs(fft.backward.output_array - 2 * u).max(initial=0), 1e-13)
            self.assertEqual(fft.forward.input_pencil.subshape, fft.forward.input_array.shape)
            self.assertEqual(fft.backward.input_pencil.subshape, fft.forward.output_array.shape)
            self.assertEqual((len(fft.xfftn), len(fft.transfer)), (len(shape), len(shape) - 1))
            half = fft.backward(fft.forward(u), normalize=True)
            self.assertLess(np.abs(half - u / np.prod(shape)).max(initial=0), 1e-13)
            fft.destroy()

    def test_padding_and_tensors(self):
        shape = (8, 9, 10)
        fft = penstock.PFFT(COMM, shape, dtype="f8", padding=[1.5, 1.5, 1.5])
        plain = penstock.PFFT(COMM, shape, dtype="f8")
        self.assertEqual(fft.global_shape(False), (12, 13, 15))
        self.assertEqual(fft.global_shape(True), plain.global_shape(True))
        vector = penstock.newDistArray(fft, True, rank=1, val=1)
        self.assertEqual(vector.global_shape, (3, *fft.global_shape(True)))
        self.assertEqual(vector.shape, (3, *fft.shape(True)))
        self.assertIsInstance(vector.v, np.ndarray)
        vector[:] = 0
        if all(s.start == 0 and s.stop > 0 for s in fft.local_slice(True)):
            vector[1][0, 0, 0] = 3
        u = fft.backward(vector[1])
        self.assertLess(np.abs(u - 3).max(initial=0), 1e-13)
        again = fft.forward(u)
        self.assertLess(np.abs(again - vector[1]).max(initial=0), 1e-13)

    def test_padding_by_a_plan_and_by_stages(self):
        for shape, dtype in (((8, 9, 10), "f8"), ((7, 8, 6), "c16"), ((8, 7, 9), "f8")):
            fft = penstock.PFFT(COMM, shape, dtype=dtype, padding=1.5, grid=(-1,))
            stages = penstock.PFFT(COMM, (1, *shape), dtype=dtype, padding=[1, 1.5, 1.5, 1.5], grid=(1, -1))
            self.assertEqual(stages.global_shape(), (1, *fft.global_shape()))
            u = noise(dtype, fft.global_shape())[fft.local_slice(False)]
            u_hat = fft.forward(u)
            self.assertLess(np.abs(stages.forward(u[np.newaxis])[0] - u_hat).max(initial=0), 1e-14)
            modes = noise(u_hat.dtype, fft.global_shape(True))[fft.local_slice(True)]
            difference = stages.backward(modes[np.newaxis])[0] - fft.backward(modes)
            self.assertLess(np.abs(difference).max(initial=0), 1e-11)
            fft.destroy()
            stages.destroy()

    def test_arrays_that_are_cut_anew(self):
        for shape, dtype in (((8, 9, 7), "f8"), ((8, 9), "i8"), ((6, 5, 4, 7), "f4"), ((4, 5, 3, 2, 6), "G")):
            for rank in (0, 1, 2):
                whole = (1000 * noise("f8", (2,) * rank + shape)).astype(dtype)
                for first in range(len(shape)):
                    a = penstock.DistArray(whole.shape, dtype=dtype, alignment=first, rank=rank)
                    self.assertEqual((a.global_shape, a.rank, a.alignment), (whole.shape, rank, first))
                    a[...] = whole[a.local_slice()]
                    for second in range(len(shape)):
                        with self.subTest(shape=shape, rank=rank, axes=(first, second)):
                            b = a.redistribute(second)
                            self.assertEqual((b.alignment, b.shape[rank + second]), (second, shape[second]))
                            np.testing.assert_array_equal(b.v, whole[b.local_slice()])
                            comms = a.pencil.subcomm
                            c = penstock.DistArray(whole.shape, comms, None, dtype, alignment=first, rank=rank)
                            self.assertIs(b.redistribute(out=c), c)
                            np.testing.assert_array_equal(c.v, whole[c.local_slice()])
                    part = (0,) * rank + (slice(None), *(n - 1 for n in shape[1:]))
                    found = a.get(part)
                    if COMM.rank == 0:
                        np.testing.assert_array_equal(found, whole[part])
                    if rank == 2:
                        self.assertEqual((a[1].rank, a[1, 0].rank, a[1][0].global_shape), (1, 0, shape))

    def test_what_cannot_be_is_refused(self):
        for arguments in (
            {"grid": (-1, 1, 1, 1)},
            {"dtype": "i4"},
            {"axes": (0, 3)},
            {"axes": (0, 0)},
            {"padding": [1.5]},
            {"transforms": {(2,): (np.fft.hfft, np.fft.ihfft)}},
            {"transforms": {(0,): (np.fft.rfftn, np.fft.irfftn)}},
        ):
            with self.subTest(arguments=arguments), self.assertRaises(penstock.Error):
                penstock.PFFT(COMM, (4, 4, 4), **arguments)
        with self.assertRaises(penstock.Error):
            penstock.PFFT(COMM, (4, 4, 4), dtype="i4" if COMM.rank == 0 else "f4")
        a = penstock.DistArray((8, 8), alignment=1)
        transfer = a.get_pencil_and_transfer(0)[1]
        with self.assertRaises(penstock.Error):
            transfer.forward(a.v if COMM.rank else a.v.astype("f4"), np.empty(transfer.subshapeB))
        if COMM.size > 1:
            with self.assertRaises(penstock.Error):
                penstock.PFFT(COMM, (4, 4, 4, 4), axes=((0,), (1, 2), (3,)), grid=(1, -1))


@unittest.skipIf(COMM is not None, "of one process")
class Processes(unittest.TestCase):
    def run_script(self, script):
        package = str(Path(__file__).parents[2] / "python")
        script = f"import sys; sys.path.insert(0, {package!r})\nimport os, numpy as np, penstock\n{script}"
        return subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, timeout=60)

    def test_a_program_may_end_with_a_transform_under_way(self):
        result = self.run_script("p = penstock.Plan((16, 16, 16)); e = p.start_forward(p.new_input())")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_a_forked_process_makes_plans_of_its_own(self):
        result = self.run_script(
            "from scipy import fft\n"
            "penstock.scipy_fft.MIN_BYTES = 1\n"
            "x = np.ones((16, 16, 16), complex)\n"
            "with fft.set_backend(penstock.scipy_fft):\n"
            "    fft.fftn(x, workers=2)\n"
            "    child = os.fork()\n"
            "    y = fft.fftn(x, workers=2)\n"
            "assert abs(y[0, 0, 0] - 4096) < 1e-9\n"
            "if child: sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))


@unittest.skipIf(COMM is not None, "of one process")
class BackendOfScipy(unittest.TestCase):
    def setUp(self):
        penstock.scipy_fft.MIN_BYTES = 1

    def tearDown(self):
        penstock.scipy_fft.MIN_BYTES = None

    def served(self, run):
        """The result, and whether it was ours."""
        from scipy import fft

        with fft.set_backend(penstock.scipy_fft, only=True):
            try:
                return run(), True
            except Exception as failure:  # uarray's own error has no public name
                if "implementation" not in str(failure):
                    raise
        return None, False

    def test_all_of_two_and_three_axes(self):
        from scipy import fft

        for shape in ((9, 8, 10), (12, 7), (4, 5, 6)):
            for dtype in ("f4", "f8", "c8", "c16"):
                x = noise(dtype, shape)
                functions = (fft.rfftn,) if x.dtype.kind == "f" else (fft.fftn, fft.ifftn, fft.irfftn)
                for function in functions:
                    for norm in (None, "ortho", "forward", "backward"):
                        found, is_ours = self.served(lambda: function(x, norm=norm, workers=2))
                        self.assertTrue(is_ours)
                        expected = function(x, norm=norm)
                        self.assertEqual(found.dtype, expected.dtype)
                        self.assertEqual(found.shape, expected.shape)
                        error = np.abs(found - expected).max() / np.abs(expected).max()
                        self.assertLess(error, 1e-5 if dtype in ("f4", "c8") else 1e-13)

    def test_arrays_beyond_half_a_cache_are_served(self):
        from scipy import fft

        penstock.scipy_fft.MIN_BYTES = None
        points = penstock._library.library.penstock_cache_l2_bytes() // 2 // 8 // 512  # of a real row of 512
        for rows, is_ours in ((points + 1, True), (points - 1, False)):
            x = np.zeros((rows, 512))
            self.assertIs(self.served(lambda: fft.rfft2(x))[1], is_ours)
            x_hat = np.zeros((rows, 257), complex)
            self.assertIs(self.served(lambda: fft.irfft2(x_hat))[1], is_ours)

    def test_odd_sizes_of_real_results(self):
        from scipy import fft

        x = noise("f8", (6, 5, 9))
        found, is_ours = self.served(lambda: fft.irfftn(fft.rfftn(x), s=x.shape))
        self.assertTrue(is_ours)
        self.assertLess(np.abs(found - x).max(), 1e-13)

    def test_others_go_on_to_scipy(self):
        from scipy import fft

        x = noise("c16")
        for run in (
            lambda: fft.fft(x),
            lambda: fft.fftn(x, axes=(0, 1)),
            lambda: fft.fftn(x, s=(4, 4, 4)),
            lambda: fft.fftn(x, s=4, axes=0),
            lambda: fft.fftn(x[:, ::2]),
            lambda: fft.fftn(x.real.copy()),
            lambda: fft.fftn(x.astype("c32")) if hasattr(np, "complex256") else fft.fft(x),
            lambda: fft.rfftn(x.real.copy(), axes=(2, 1, 0)),
        ):
            self.assertFalse(self.served(run)[1])
            with fft.set_backend(penstock.scipy_fft):
                self.assertEqual(run().dtype.kind, "c")

    def test_overwriting_and_threads(self):
        from scipy import fft

        x = noise("c16", (16, 16, 16))
        expected = fft.fftn(x)
        results = [None] * 4

        def work(i):
            with fft.set_backend(penstock.scipy_fft):
                results[i] = fft.fftn(x.copy(), overwrite_x=i % 2 == 0)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results:
            self.assertLess(np.abs(result - expected).max(), 1e-11)


if __name__ == "__main__":
    unittest.main()
