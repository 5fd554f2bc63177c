#!/usr/bin/python3
"""`penstock fft` of fields in NIfTI, MRC and HDF5 files, in memory and in passes over files, beside NumPy; the formats
themselves are compared with their own libraries in tests/volume."""

import os
import unittest

import command
import file_runs
import numpy

try:
    import h5py
    import mrcfile
    import nibabel
except ImportError as missing:
    raise unittest.SkipTest(f"{missing}: see debian-packages.txt")

SHAPE = (6, 7, 10)  # nz, ny, nx
AFFINE = numpy.array([[2.0, 0, 0, -10], [0, 3, 0, 4], [0, 0, 4, 5], [0, 0, 0, 1]])
KEEP_ALL = ("--filter-lowpass", "100")
has_zlib = unittest.skipUnless(os.environ["PENSTOCK_HAS_ZLIB"] == "1", "built without zlib")
has_hdf5 = unittest.skipUnless(os.environ["PENSTOCK_HAS_HDF5"] == "1", "built without HDF5")


def noise(shape, code):
    numbers = numpy.random.default_rng(3)
    values = numbers.normal(size=shape)
    return (values + 1j * numbers.normal(size=shape) if numpy.dtype(code).kind == "c" else values).astype(code)


class Volumes(file_runs.FileRunTest):
    def path(self, name):
        return str(self.folder / name)

    def run_well(self, processes, *arguments):
        result = self.run_on(processes, "fft", *arguments, "--reps", "1", "--effort", "estimate", *command.KNOWN_MACHINE)
        self.assertEqual(result.status, 0, result.stderr)

    def assert_close(self, found, expected, tolerance):
        self.assertEqual(found.shape, expected.shape)
        self.assertLess(numpy.linalg.norm(found - expected), tolerance * numpy.linalg.norm(expected))

    def test_a_filtered_volume_lies_where_the_volume_does(self):
        values = numpy.random.default_rng(3).integers(0, 4000, SHAPE, "i2")
        nibabel.save(nibabel.Nifti1Image(values.T, AFFINE), self.path("scan.nii"))
        for processes in command.process_counts():
            self.run_well(processes, "--input", "scan.nii", "--output", "out.nii", "--precision", "double", *KEEP_ALL)
            found = nibabel.load(self.path("out.nii"))
            self.assert_close(found.get_fdata().T, values, 1e-14)
            self.assertEqual(found.get_data_dtype(), "f8")
            numpy.testing.assert_array_equal(found.affine, AFFINE)

    @has_zlib
    def test_a_compressed_volume_is_read_and_written_by_ranks(self):
        values = noise(SHAPE, "f4")
        nibabel.save(nibabel.Nifti1Image(values.T, AFFINE), self.path("scan.nii.gz"))
        for processes in command.process_counts():
            self.run_well(processes, "--input", "scan.nii.gz", "--output", "out.nii.gz", *KEEP_ALL)
            found = nibabel.load(self.path("out.nii.gz"))
            self.assert_close(found.get_fdata().T, values, 1e-6)
            numpy.testing.assert_array_equal(found.affine, AFFINE)

    def test_a_map_keeps_its_voxels(self):
        values = noise(SHAPE, "f4")
        with mrcfile.new(self.path("in.mrc")) as file:
            file.set_data(values)
            file.voxel_size = 1.25
        for processes in command.process_counts():
            self.run_well(processes, "--input", "in.mrc", "--output", "out.mrc", *KEEP_ALL)
            with mrcfile.open(self.path("out.mrc")) as found:
                self.assert_close(found.data, values, 1e-6)
                self.assertEqual(found.voxel_size.tolist(), (1.25, 1.25, 1.25))

    @has_hdf5
    def test_datasets_are_transformed_into_datasets(self):
        values = noise(SHAPE, "f8")
        for processes in command.process_counts():
            for chunks in (None, (2, 3, 5)):
                with h5py.File(self.path("flow.h5"), "w") as file:
                    file.create_dataset("velocity/u", data=values, chunks=chunks).attrs["units"] = "m/s"
                self.run_well(processes, "--input", "flow.h5:/velocity/u", "--output", "flow.h5:/spectrum/u")
                self.run_well(processes, "--input", "flow.h5:/velocity/u", "--output", "flow.h5:/smooth/u", *KEEP_ALL)
                with h5py.File(self.path("flow.h5")) as file:
                    self.assert_close(file["spectrum/u"][:], numpy.fft.rfftn(values), 1e-14)
                    self.assert_close(file["smooth/u"][:], values, 1e-14)
                    self.assertEqual(file["smooth/u"].attrs["units"], "m/s")
                    self.assertEqual(sorted(file), ["smooth", "spectrum", "velocity"])

    @has_hdf5
    @command.needs_a_small_process
    def test_fields_larger_than_memory(self):
        shape = (140, 150, 131)
        values = noise(shape, "c16")
        nibabel.save(nibabel.Nifti1Image(values.T, AFFINE), self.path("in.nii"))
        in_passes = ("--memory", "44MiB", "--threads", "2", "--machine", str(self.machine))
        there = self.run_alone("fft", "--input", "in.nii", "--output", "out.h5:/spectrum", *in_passes)
        self.assertEqual(there.status, 0, there.stderr)
        self.assertIn("in two passes over files", there.stdout)
        with h5py.File(self.path("out.h5")) as file:
            self.assert_close(file["spectrum"][:], numpy.fft.fftn(values), 1e-14)
        back = self.run_alone("fft", "--input", "out.h5", "--output", "back.nii", "--backward", *in_passes)
        self.assertEqual(back.status, 0, back.stderr)
        self.assert_close(numpy.asanyarray(nibabel.load(self.path("back.nii")).dataobj).T, values, 1e-14)
        again = self.run_alone("fft", "--input", "in.nii", "--output", "out.h5:/more", *in_passes)
        self.assertEqual((again.status, len(again.lines)), (2, 1), again.stderr)
        self.assertIn("out.h5' exists", again.stderr)

    @has_zlib
    @command.needs_a_small_process
    def test_what_does_not_lie_in_a_file_is_not_read_in_passes(self):
        nibabel.save(nibabel.Nifti1Image(noise((140, 150, 131), "c16").T, AFFINE), self.path("in.nii.gz"))
        result = self.run_alone("fft", "--input", "in.nii.gz", "--output", "out.npy", "--memory", "44MiB")
        self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)
        self.assertIn("in.nii.gz' is compressed", result.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["in.nii.gz"])

    def test_what_cannot_be_written_is_said_before_the_work(self):
        for name, part in (("out.mrc", "double precision"), ("nowhere/out.nii", "nowhere/out.nii")):
            for processes in command.process_counts():
                result = self.run_on(processes, "fft", "--size", "8x8x8", "--output", name)
                self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)
                self.assertIn(part, result.stderr)
                self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
