"""Volumes in files, for the scripts beside: arrays of the shape (nz, ny, nx)."""

import nibabel
import numpy


def load(path):
    if path.endswith(".npy"):
        return numpy.load(path, mmap_mode="r")
    return nibabel.load(path).get_fdata(dtype=numpy.float64).T  # NIfTI counts (x, y, z)
