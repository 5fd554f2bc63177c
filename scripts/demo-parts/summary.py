#!/usr/bin/python3
"""Says in a few lines what the demo has done, from the JSON that the command wrote.

Usage: summary.py FOLDER
"""

import json
import pathlib
import sys


def main():
    folder = pathlib.Path(sys.argv[1])
    runs = {name: json.loads((folder / f"{name}.json").read_text()) for name in ("fft-threads", "fft-ranks", "nas-ft-a")}
    for name in ("fft-threads", "fft-ranks"):
        run = runs[name]
        transform = f"Transform, ranks {run['ranks']}, threads per rank {run['threads']}:"
        print(
            f"{transform} forward {run['forward_min_s'] * 1e3:.1f} ms, "
            f"backward {run['backward_min_s'] * 1e3:.1f} ms, relative error {run['relative_error']:.1e}"
        )
    nas = runs["nas-ft-a"]
    print(
        f"NAS FT class {nas['class']}: {'verified' if nas['verified'] else 'NOT VERIFIED'}, "
        f"{nas['time_s']:.2f} s, {nas['rate_mops']:.0f} Mop/s"
    )
    print(f"\nIn {folder}/:")
    for name, what in (
        ("slices.png", "the middle slice before and after the filter"),
        ("spectrum.png", "the radial power spectrum (its numbers: spectrum.txt)"),
        ("filtered-*", "the filtered volume, from threads (.npy) and from ranks (.nii)"),
        ("*.json", "times, plan, limit and error of each run"),
    ):
        print(f"  {name:16}{what}")


main()
