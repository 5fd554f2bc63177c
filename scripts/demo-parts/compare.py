#!/usr/bin/python3
"""Compares filtered volumes with one another and with NumPy's own transform of the input.

Usage: compare.py INPUT RADIUS OUTPUT OUTPUT ..., of .npy or NIfTI files
Prints a line per comparison; exits 1 where a relative error (L2 norm) exceeds the tolerance.
"""

import sys

import numpy
import volumes

TOLERANCE = 1e-14  # rounding of a transform of 7 million points and its inverse leaves some 1e-15


def low_pass(field, radius):
    """All modes with a wavenumber of at most `radius`: what penstock fft --filter-lowpass keeps."""
    spectrum = numpy.fft.rfftn(field)
    squared = 0.0
    for axis, points in enumerate(field.shape):
        frequency = numpy.fft.rfftfreq if axis == field.ndim - 1 else numpy.fft.fftfreq
        wavenumber = frequency(points, 1 / points)
        shape = [-1 if i == axis else 1 for i in range(field.ndim)]
        squared = squared + wavenumber.reshape(shape) ** 2
    spectrum[squared > radius**2] = 0
    return numpy.fft.irfftn(spectrum, field.shape)


def main():
    field = volumes.load(sys.argv[1])
    expected = low_pass(field, float(sys.argv[2]))
    outputs = {path: volumes.load(path) for path in sys.argv[3:]}
    first_path, first = next(iter(outputs.items()))

    comparisons = [(f"{path} and NumPy", output, expected) for path, output in outputs.items()]
    comparisons += [(f"{path} and {first_path}", output, first) for path, output in list(outputs.items())[1:]]
    is_right = True
    for what, found, reference in comparisons:
        error = numpy.linalg.norm(found - reference) / numpy.linalg.norm(reference)
        is_close = bool(error <= TOLERANCE)  # not so for NaN
        is_right = is_right and is_close
        print(f"{what}: relative error {error:.1e}, allowed {TOLERANCE:.0e}: {'right' if is_close else 'WRONG'}")
    sys.exit(0 if is_right else 1)


main()
