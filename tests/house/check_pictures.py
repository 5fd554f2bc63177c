#!/usr/bin/env python3
"""Asserts that the pictures in docs/pictures are what scripts/pictures draws.

Usage: check_pictures.py SOURCE_FOLDER. Names each picture that is not, and exits 1, or exits 0.
"""

import pathlib
import subprocess
import sys
import tempfile


def main():
    top = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-B", top / "scripts" / "pictures", folder], check=True, capture_output=True)
        drawn = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
    kept = {path.name: path.read_text() for path in (top / "docs" / "pictures").iterdir()}
    others = sorted(name for name in drawn.keys() | kept.keys() if drawn.get(name) != kept.get(name))
    for name in others:
        print(f"docs/pictures/{name}: not what scripts/pictures draws: make pictures")
    sys.exit(1 if others or not drawn else 0)


main()
