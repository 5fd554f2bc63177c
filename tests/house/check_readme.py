#!/usr/bin/env python3
"""Asserts that the first program in README.md is examples/first_transform.cpp, that README.md names those in other
languages, and that all stay short.

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
    readme = (top / "README.md").read_text()
    blocks = re.findall(r"^```cpp\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    if not blocks:
        print("README.md: it has no first program (a block that begins with ```cpp)")
        sys.exit(1)
    difference = list(
        difflib.unified_diff(example.splitlines(), blocks[0].splitlines(), "examples/first_transform.cpp", "README.md")
    )
    problems = []
    for program in sorted((top / "examples").glob("first_transform.*")):
        lines = len(program.read_text().splitlines())
        if lines >= MAX_LINES:
            problems.append(f"examples/{program.name}: {lines} lines, and a first program has less than {MAX_LINES}")
        if program.suffix != ".cpp" and f"examples/{program.name}" not in readme:
            problems.append(f"README.md does not name examples/{program.name}")
    print("\n".join([*difference, *problems]))
    sys.exit(1 if difference or problems else 0)


main()
