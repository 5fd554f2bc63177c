#!/usr/bin/env python3
"""Asserts that the first program in README.md is examples/first_transform.cpp, and that both stay short.

Usage: check_readme.py SOURCE_FOLDER. Prints the difference and exits 1, or exits 0.
"""

import difflib
import pathlib
import re
import sys

MAX_LINES = 30


def main():
    top = pathlib.Path(sys.argv[1])
    example = (top / "examples" / "first_transform.cpp").read_text()
    blocks = re.findall(r"^```cpp\n(.*?)^```$", (top / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    if not blocks:
        print("README.md: it has no first program (a block that begins with ```cpp)")
        sys.exit(1)
    difference = list(
        difflib.unified_diff(example.splitlines(), blocks[0].splitlines(), "examples/first_transform.cpp", "README.md")
    )
    print("\n".join(difference))
    lines = len(example.splitlines())
    if lines >= MAX_LINES:
        print(f"examples/first_transform.cpp: {lines} lines, and a first program has less than {MAX_LINES}")
    sys.exit(1 if difference or lines >= MAX_LINES else 0)


main()
