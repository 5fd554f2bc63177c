"""The Python package beside NumPy and SciPy: test_package.py, or under mpirun with mpi4py: test_package.py --mpi."""

import functools
import gc
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

    def test_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = folder if COMM is None else COMM.bcast(folder)
            source, target = f"{folder}/in.npy", f"{folder}/out.npy"
            team = penstock.Team(COMM)
            if team.rank == 0:
                np.save(source, noise("c16"))
            team.barrier()
            penstock.transform_file(source, target, team, memory_bytes=1 << 26)
            self.compare(np.load(target), np.fft.fftn(noise("c16")), "c16")
            team.barrier()

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
            lambda: penstock.transform_file("/nowhere/in.npy", "/nowhere/out.npy", COMM),
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
            lambda: penstock.transform_file("/nowhere/in.npy", "out.npy", team, scaling="half" if is_bad else "full"),
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
                            c = penstock.DistArray(whole.shape, a.pencil.subcomm, None, dtype, alignment=first, rank=rank)
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
            transfer.forward(a.v if COMM.rank else a.v.astype("f4"), np.empty(transfer._pencils[1].subshape))
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
            "penstock.scipy_fft.MIN_POINTS = 1\n"
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
        self.least, penstock.scipy_fft.MIN_POINTS = penstock.scipy_fft.MIN_POINTS, 1

    def tearDown(self):
        penstock.scipy_fft.MIN_POINTS = self.least

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
