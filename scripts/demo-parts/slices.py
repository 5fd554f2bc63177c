#!/usr/bin/python3
"""Writes the middle slice in z of two volumes, and their difference, as rows of x in raw float64 for gnuplot.

Usage: slices.py BEFORE AFTER FOLDER, of .npy or NIfTI files
Leaves before.bin, after.bin and difference.bin in FOLDER and prints "NX NY".
"""

import pathlib
import sys

import volumes


def main():
    before, after = (volumes.load(path) for path in sys.argv[1:3])
    middle = before.shape[0] // 2
    slices = {"before": before[middle], "after": after[middle], "difference": after[middle] - before[middle]}
    for name, values in slices.items():
        values.astype("<f8").tofile(pathlib.Path(sys.argv[3]) / f"{name}.bin")
    print(before.shape[2], before.shape[1])


main()
