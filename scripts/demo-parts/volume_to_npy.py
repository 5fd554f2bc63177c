#!/usr/bin/python3
"""Turns a NIfTI volume into a .npy file of float64 with the shape (nz, ny, nx), x contiguous.

Usage: volume_to_npy.py VOLUME.nii.gz OUTPUT.npy
"""

import sys

import nibabel
import numpy


def main():
    volume = nibabel.load(sys.argv[1])
    field = numpy.ascontiguousarray(volume.get_fdata(dtype=numpy.float64).T)  # NIfTI counts (x, y, z)
    numpy.save(sys.argv[2], field)
    nz, ny, nx = field.shape
    size_mm = " x ".join(f"{edge:g}" for edge in volume.header.get_zooms())
    print(f"{nx} x {ny} x {nz} voxels of {size_mm} mm, values from {field.min():g} to {field.max():g}")


main()
