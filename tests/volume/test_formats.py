#!/usr/bin/python3
"""Fields in NIfTI, MRC and HDF5 files, beside the libraries of these formats: nibabel, mrcfile, h5py, h5dump.

What they write, copy_field reads; what it writes, they read: the same numbers, and the same place in space.
"""

import io
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy

try:
    import h5py
    import mrcfile
    import nibabel
except ImportError as missing:
    raise unittest.SkipTest(f"{missing}: see debian-packages.txt")

COPY = os.environ["PENSTOCK_COPY_FIELD"]
HAS_HDF5 = os.environ["PENSTOCK_HAS_HDF5"] == "1"
HAS_ZLIB = os.environ["PENSTOCK_HAS_ZLIB"] == "1"
SHAPE = (5, 6, 7)  # nz, ny, nx
GIVEN = {  # as what the elements of a type are given
    "i1": "f4", "u1": "f4", "i2": "f4", "u2": "f4", "f2": "f4", "f4": "f4",
    "i4": "f8", "u4": "f8", "i8": "f8", "u8": "f8", "f8": "f8", "c8": "c8", "c16": "c16",
}  # fmt: skip
AFFINE = numpy.array([[0, 2.5, 0.1, -11], [1.5, 0, 0, 7], [0, 0.2, 3, 5], [0, 0, 0, 1.0]])


def field(code, shape=SHAPE):
    """Numbers of a type, among them its largest and, where it has one, its sign."""
    numbers = numpy.random.default_rng(7)
    dtype = numpy.dtype(code)
    if dtype.kind in "iu":
        limits = numpy.iinfo(dtype)
        return numbers.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    values = numbers.normal(size=shape)
    if dtype.kind == "c":
        values = values + 1j * numbers.normal(size=shape)
    return values.astype(dtype)


class Formats(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def path(self, name):
        return str(self.folder / name)

    def run_copy(self, source, target):
        return subprocess.run([COPY, self.path(source), self.path(target)], capture_output=True, text=True)

    def copy(self, source, target):
        """What the copy says of its source: shape, type, obstacle."""
        result = self.run_copy(source, target)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if ".part" in path.name), [])
        nx, ny, nz, dtype, *obstacle = result.stdout.split(maxsplit=4)
        return (int(nz), int(ny), int(nx)), dtype, obstacle[0].strip() if obstacle else ""

    def refused(self, source, *parts):
        result = self.run_copy(source, "out.npy")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)
        self.assertFalse((self.folder / "out.npy").exists())

    def assert_same(self, found, expected, code):
        self.assertEqual(found.dtype.newbyteorder("="), numpy.dtype(GIVEN[code]), code)
        numpy.testing.assert_array_equal(found, expected.astype(GIVEN[code]), code)

    # NIfTI

    def test_volumes_of_nibabel(self):
        for kind in (nibabel.Nifti1Image, nibabel.Nifti2Image):
            for code in ("u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16"):
                for order in "<>":
                    values = field(code)
                    header = kind.header_class(endianness=order)
                    header.set_data_dtype(numpy.dtype(code))
                    image = kind(values.T, AFFINE, header)
                    image.header.set_xyzt_units("mm", "sec")
                    nibabel.save(image, self.path("in.nii"))
                    with self.subTest(kind=kind.__name__, code=code, order=order):
                        shape, _, obstacle = self.copy("in.nii", "out.nii")
                        self.assertEqual(shape, SHAPE)
                        is_plain = order == "<" and GIVEN[code] == code
                        self.assertEqual(obstacle == "", is_plain, obstacle)
                        found = nibabel.load(self.path("out.nii"))
                        self.assertIs(type(found), kind)
                        self.assert_same(numpy.asanyarray(found.dataobj).T, values, code)
                        numpy.testing.assert_allclose(found.affine, AFFINE, rtol=1e-6)
                        self.assertEqual(found.header.get_xyzt_units(), ("mm", "sec"))
                        self.assertEqual(found.header.get_zooms(), image.header.get_zooms())

    def test_scaled_integers(self):
        image = nibabel.Nifti1Image(field("i2").T, AFFINE)
        image.header.set_slope_inter(0.25, -3)
        nibabel.save(image, self.path("in.nii"))
        written = nibabel.load(self.path("in.nii"))
        self.assertEqual((written.dataobj.slope, written.dataobj.inter), (0.25, -3))
        self.copy("in.nii", "out.npy")
        numpy.testing.assert_array_equal(numpy.load(self.path("out.npy")), written.get_fdata(dtype="f4").T)

    @unittest.skipUnless(HAS_ZLIB, "built without zlib")
    def test_compressed_volumes(self):
        values = field("f4", (40, 50, 60))
        nibabel.save(nibabel.Nifti1Image(values.T, AFFINE), self.path("in.nii.gz"))
        self.assertEqual(self.copy("in.nii.gz", "out.nii.gz"), (values.shape, "float32", "compressed"))
        found = nibabel.load(self.path("out.nii.gz"))
        self.assert_same(numpy.asanyarray(found.dataobj).T, values, "f4")
        numpy.testing.assert_allclose(found.affine, AFFINE, rtol=1e-6)
        content = (self.folder / "in.nii.gz").read_bytes()
        (self.folder / "torn.nii.gz").write_bytes(content[: len(content) // 2])
        self.refused("torn.nii.gz", "torn.nii.gz", "ends too early, or is damaged")
        (self.folder / "torn.nii.gz").write_bytes(content[:-8])
        self.refused("torn.nii.gz", "torn.nii.gz", "ends too early, or is damaged")
        (self.folder / "torn.nii.gz").write_bytes(content[:-8] + bytes(8))
        self.refused("torn.nii.gz", "torn.nii.gz", "ends too early, or is damaged")

    def test_volumes_of_our_own(self):
        for shape, kind in ((SHAPE, nibabel.Nifti1Image), ((1, 2, 40000), nibabel.Nifti2Image)):
            values = field("f8", shape)
            numpy.save(self.path("in.npy"), values)
            self.copy("in.npy", "out.nii")
            found = nibabel.load(self.path("out.nii"))
            self.assertIs(type(found), kind)
            self.assert_same(numpy.asanyarray(found.dataobj).T, values, "f8")

    def test_volumes_that_are_no_fields(self):
        nibabel.save(nibabel.Nifti1Image(field("f4", (3, 2, 2, 2)).T, AFFINE), self.path("series.nii"))
        self.refused("series.nii", "3 volumes along dimension 4")
        nibabel.save(nibabel.Nifti1Image(field("f4", (1, 2, 3, 4)).T, AFFINE), self.path("one.nii"))
        self.assertEqual(self.copy("one.nii", "one.npy")[0], (2, 3, 4))
        nibabel.save(nibabel.Nifti1Image(field("f4", (3, 4)).T, AFFINE), self.path("plane.nii"))
        self.assertEqual(self.copy("plane.nii", "plane.npy")[0], (1, 3, 4))
        rgb = numpy.zeros((2, 2, 2), [("R", "u1"), ("G", "u1"), ("B", "u1")])
        nibabel.save(nibabel.Nifti1Image(rgb, AFFINE), self.path("rgb.nii"))
        self.refused("rgb.nii", "data type 128")
        nibabel.save(nibabel.Nifti1Pair(field("f4").T, AFFINE), self.path("pair.img"))
        self.refused("pair.hdr", "pair of files")
        nibabel.save(nibabel.Nifti1Image(field("f4").T, AFFINE), self.path("in.nii"))
        content = (self.folder / "in.nii").read_bytes()
        (self.folder / "short.nii").write_bytes(content[:-1])
        self.refused("short.nii", f"ends at byte {len(content)}, and the file has {len(content) - 1}")
        (self.folder / "header.nii").write_bytes(content[:347])
        self.refused("header.nii", "header.nii", "none of a .npy")

    # MRC

    def test_volumes_of_mrcfile(self):
        for code in ("i1", "i2", "u2", "f2", "f4", "c8"):
            for order in "<>":
                values = field(code)
                with mrcfile.new(self.path("in.mrc"), overwrite=True) as file:
                    file.set_data(values)
                    file.voxel_size = (1.1, 1.2, 1.3)
                    file.header.origin = (4, 5, 6)
                    file.header.nxstart = -3
                    file.set_extended_header(numpy.zeros(24, "i1").view("V24"))
                    file.add_label("a label")
                if order == ">":
                    self.make_big_endian("in.mrc", values)
                with self.subTest(code=code, order=order):
                    shape, _, obstacle = self.copy("in.mrc", "out.mrc")
                    self.assertEqual(shape, SHAPE)
                    self.assertEqual(obstacle == "", order == "<" and code in ("f4", "c8"), obstacle)
                    self.assertTrue(mrcfile.validate(self.path("out.mrc"), print_file=io.StringIO()))
                    with mrcfile.open(self.path("out.mrc")) as found:
                        self.assert_same(found.data, values, code)
                        numpy.testing.assert_allclose(found.voxel_size.tolist(), (1.1, 1.2, 1.3), rtol=1e-6)
                        self.assertEqual(found.header.origin.tolist(), (4, 5, 6))
                        self.assertEqual(found.header.nxstart, -3)
                        self.assertIn("a label", found.get_labels()[-1])

    def make_big_endian(self, name, values):
        with mrcfile.open(self.path(name)) as file:
            extended = file.extended_header.tobytes()
        header = numpy.frombuffer((self.folder / name).read_bytes()[:1024], mrcfile.dtypes.HEADER_DTYPE)
        swapped = header.byteswap().newbyteorder(">")
        swapped["machst"] = [0x11, 0x11, 0, 0]
        big = values.astype(values.dtype.newbyteorder(">"))
        (self.folder / name).write_bytes(swapped.tobytes() + extended + big.tobytes())

    def test_maps_of_our_own(self):
        values = field("f4")
        numpy.save(self.path("in.npy"), values)
        self.copy("in.npy", "out.map")
        self.assertTrue(mrcfile.validate(self.path("out.map"), print_file=io.StringIO()))
        with mrcfile.open(self.path("out.map")) as found:
            self.assert_same(found.data, values, "f4")
            self.assertTrue(found.is_volume())
        numpy.save(self.path("double.npy"), field("f8"))
        result = self.run_copy("double.npy", "double.mrc")
        self.assertEqual(result.returncode, 1)
        self.assertIn("MRC has no elements of double precision", result.stderr)
        self.assertFalse((self.folder / "double.mrc").exists())

    def test_maps_that_are_no_fields(self):
        with mrcfile.new(self.path("in.mrc")) as file:
            file.set_data(field("f4"))
        content = bytearray((self.folder / "in.mrc").read_bytes())
        for offset, number, part in ((12, 101, "mode 101"), (4, 0, "direction 2 of the volume has 0 points"),
                                     (92, -1, "negative length"), (0, 2**31 - 1, "the file has")):
            broken = content.copy()
            broken[offset : offset + 4] = number.to_bytes(4, "little", signed=True)
            (self.folder / "broken.mrc").write_bytes(broken)
            self.refused("broken.mrc", part)

    # HDF5

    def write_hdf5(self, values, path="in.h5", name="velocity/u", mode="w", **options):
        with h5py.File(self.path(path), mode, userblock_size=options.pop("userblock_size", 0)) as file:
            dataset = file.create_dataset(name, data=values, **options)
            dataset.attrs["units"] = "m/s"
            dataset.attrs["spacing"] = [0.1, 0.2, 0.3]
            dataset.attrs["names"] = ["a", "longer name"]

    @unittest.skipUnless(HAS_HDF5, "built without HDF5")
    def test_datasets_of_h5py(self):
        plain = {"chunks": None}
        for code in GIVEN:
            for order in "<>":
                for options in (plain, {"chunks": (2, 3, 4)}, {"compression": "gzip", "shuffle": True}):
                    values = field(code)
                    self.write_hdf5(values.astype(numpy.dtype(code).newbyteorder(order)), **options)
                    with self.subTest(code=code, order=order, options=options):
                        shape, _, obstacle = self.copy("in.h5:/velocity/u", "out.h5:/a/b")
                        self.assertEqual(shape, SHAPE)
                        is_plain = order == "<" and options is plain and GIVEN[code] == code
                        self.assertEqual(obstacle == "", is_plain, obstacle)
                        with h5py.File(self.path("out.h5")) as found:
                            self.assert_same(found["a/b"][:], values, code)
                            self.assertEqual(found["a/b"].attrs["units"], "m/s")
                            self.assertEqual(found["a/b"].attrs["spacing"].tolist(), [0.1, 0.2, 0.3])
                            self.assertEqual(list(found["a/b"].attrs["names"]), ["a", "longer name"])
                            self.assertEqual(list(found["a"]), ["b"])
                        (self.folder / "out.h5").unlink()

    @unittest.skipUnless(HAS_HDF5, "built without HDF5")
    def test_a_user_block_and_what_was_never_written(self):
        values = field("f8")
        self.write_hdf5(values, userblock_size=1024)
        self.copy("in.h5:/velocity/u", "out.npy")
        self.assert_same(numpy.load(self.path("out.npy")), values, "f8")
        with h5py.File(self.path("empty.h5"), "w") as file:
            file.create_dataset("e", SHAPE, "f4", fillvalue=2.5)
        self.assertEqual(self.copy("empty.h5:/e", "e.npy")[2], "not in one piece of the file")
        self.assertTrue((numpy.load(self.path("e.npy")) == 2.5).all())

    @unittest.skipUnless(HAS_HDF5, "built without HDF5")
    def test_datasets_that_are_found_and_added(self):
        values = field("c16")
        numpy.save(self.path("in.npy"), values)
        self.copy("in.npy", "out.h5")
        with h5py.File(self.path("out.h5")) as found:
            self.assert_same(found["field"][:], values, "c16")
        dump = subprocess.run(["h5dump", "-H", self.path("out.h5")], capture_output=True, text=True)
        self.assertEqual(dump.returncode, 0, dump.stderr)
        self.assertIn("( 5, 6, 7 )", dump.stdout)
        self.copy("out.h5", "back.npy")
        self.assert_same(numpy.load(self.path("back.npy")), values, "c16")
        # A file keeps its other datasets; one of the same name is replaced.
        self.write_hdf5(field("f4"), "out.h5", "deep/er/u", "a", chunks=None)
        self.copy("out.h5:/deep/er/u", "out.h5:/deep/v")
        self.copy("in.npy", "out.h5:/deep/er/u")
        with h5py.File(self.path("out.h5")) as found:
            self.assert_same(found["field"][:], values, "c16")
            self.assert_same(found["deep/v"][:], field("f4"), "f4")
            self.assertEqual(found["deep/v"].attrs["units"], "m/s")
            self.assert_same(found["deep/er/u"][:], values, "c16")
            self.assertEqual(sorted(found["deep"]), ["er", "v"])
        self.refused("out.h5", "3 datasets of three dimensions", "/deep/er/u", "name one")
        self.refused("out.h5:/nothing", "no dataset '/nothing'", "/deep/v")
        result = self.run_copy("in.npy", "out.h5:/deep")
        self.assertEqual(result.returncode, 1)
        self.assertIn("'/deep' is no dataset there", result.stderr)
        with h5py.File(self.path("out.h5")) as found:
            self.assertEqual(sorted(found["deep"]), ["er", "v"])

    @unittest.skipUnless(HAS_HDF5, "built without HDF5")
    def test_links_to_other_files(self):
        values = field("f8")
        self.write_hdf5(values, "other.h5", "u", chunks=None)
        with h5py.File(self.path("in.h5"), "w") as file:
            file["mine"] = field("f4")
            file["link"] = h5py.ExternalLink("other.h5", "/u")
            file["folder"] = h5py.ExternalLink("other.h5", "/")
        before = (self.folder / "in.h5").read_bytes()
        self.assertEqual(self.copy("in.h5:/link", "link.npy")[2], "in another file, to which a link leads")
        self.assert_same(numpy.load(self.path("link.npy")), values, "f8")
        result = self.run_copy("link.npy", "in.h5:/folder/v")
        self.assertEqual(result.returncode, 1)
        self.assertIn("leads by a link to another file", result.stderr)
        with h5py.File(self.path("in.h5")) as file:
            self.assert_same(file["mine"][:], field("f4"), "f4")
            self.assertEqual(list(file["folder"]), ["u"])
        self.assertEqual(len(before), (self.folder / "in.h5").stat().st_size)

    @unittest.skipUnless(HAS_HDF5, "built without HDF5")
    def test_names_with_colons_and_slashes(self):
        (self.folder / "run:").mkdir()
        values = field("f4")
        numpy.save(self.path("run:/in.npy"), values)
        self.copy("run:/in.npy", "out.h5:/u/")
        with h5py.File(self.path("out.h5")) as file:
            self.assert_same(file["u"][:], values, "f4")

    @unittest.skipUnless(HAS_HDF5, "built without HDF5")
    def test_datasets_that_are_no_fields(self):
        with h5py.File(self.path("in.h5"), "w") as file:
            file["plane"] = field("f4", (2, 3))
            file.create_dataset("none", (2, 0, 3), "f4")
            file["words"] = numpy.full((1, 1, 2), b"word")
            file["three"] = numpy.zeros((1, 1, 2), [("a", "f4"), ("b", "f4"), ("c", "f4")])
            file["unlike"] = numpy.zeros((1, 1, 2), [("density", "f4"), ("pressure", "f4")])
            file.create_dataset("vast", (2**61, 16, 16), "f4", chunks=(1, 16, 16))
        self.refused("in.h5:/unlike", "neither numbers nor pairs")
        self.refused("in.h5:/vast", "more bytes than 63 bits can count")
        self.refused("in.h5:/plane", "2 dimensions")
        self.refused("in.h5:/none", "no elements")
        self.refused("in.h5:/words", "neither numbers nor pairs")
        self.refused("in.h5:/three", "neither numbers nor pairs")
        (self.folder / "torn.h5").write_bytes((self.folder / "in.h5").read_bytes()[:600])
        self.refused("torn.h5:/plane", "torn.h5", "HDF5 says")
        numpy.save(self.path("array.npy"), field("f4"))
        self.refused("array.npy:/plane", "array.npy", "HDF5 says")


if __name__ == "__main__":
    unittest.main()
