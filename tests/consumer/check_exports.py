#!/usr/bin/env python3
"""Asserts what shared libraries export: nothing but names that match, and at least one that does.

Usage: check_exports.py LIBRARY PATTERN [LIBRARY PATTERN]...
"""

import re
import subprocess
import sys


def exported(library):
    """The names that a library defines for others, as the linker knows them."""
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return [line.split()[-1] for line in listed.stdout.splitlines()]


def breaches(library, pattern):
    names = exported(library)
    others = [f"{library}: exports {name}, which is none of its faces" for name in names if not re.match(pattern, name)]
    return others or [f"{library}: exports nothing"] * (not names)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    found = [breach for pair in zip(arguments[::2], arguments[1::2]) for breach in breaches(*pair)]
    print("\n".join([*found, f"{len(arguments) // 2} libraries, {len(found)} breaches"]))
    sys.exit(1 if found or not arguments else 0)
