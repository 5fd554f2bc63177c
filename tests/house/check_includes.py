#!/usr/bin/env python3
"""Asserts that the sources are built as docs/architecture.md draws them.

Usage: check_includes.py SOURCE_FOLDER. Reads the table of floors there, then every source under penstock/, tests/,
bench/, examples/ and simulate/. Prints a line for each breach and exits 1, or says how much it looked at and exits 0.
"""

import pathlib
import re
import sys

EVERYWHERE = "base"  # the module that all others stand on, whatever their floor

ROW = re.compile(r"^\| (\d+) \| `([\w/]+)/` \|")
SETTINGS = f"penstock/{EVERYWHERE}/config.hpp"

SETTING = re.compile(r"^#(?:cmakedefine01|cmakedefine|define) (PENSTOCK_\w+)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(penstock/[^>]+)>)')


def read_floors(page):
    rows = (ROW.match(line) for line in page.read_text().splitlines())
    return {row[2]: int(row[1]) for row in rows if row}


def includes_of(path):
    """The numbered lines that include a header of ours."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1] or match[2]


def reaches(top, path, wanted, seen):
    """Whether `path` includes the header `wanted`, directly or through others of ours."""
    for _, header in includes_of(path):
        if header == wanted:
            return True
        if header not in seen and (top / header).exists():
            seen.add(header)
            if reaches(top, top / header, wanted, seen):
                return True
    return False


def settings_of(top):
    """The macros of the build's settings: one that is asked where it is not defined counts as 0, without a warning."""
    page = top / "penstock" / EVERYWHERE / "config.hpp.in"
    return set(SETTING.findall(page.read_text())) if page.exists() else set()


def module_of(floors, parts):
    """The module of a path below penstock/: its first two folders where the table has them, as `lab/plot`, else one."""
    both = "/".join(parts[:2])
    return both if both in floors else parts[0]


def face_of(module):
    return f"penstock/{module}/{module.split('/')[-1]}.hpp"


def is_public(module, header):
    return module == EVERYWHERE or header == face_of(module)


def breach(floors, module, header):
    """What is wrong with `module` (None outside of penstock/) including `header`, or None."""
    parts = header.split("/")
    if parts[0] != "penstock":
        return "is not of penstock/, or not included by its path from there" if module else None
    target = module_of(floors, parts[1:])
    if target not in floors:
        return f"is of '{target}', which is no module of docs/architecture.md"
    if module is None or module == target:
        return None
    if target != EVERYWHERE and floors[target] >= floors[module]:
        return f"is of floor {floors[target]}, not below {module} on floor {floors[module]}"
    if not is_public(target, header):
        return f"is private to {target}, whose face is {face_of(target)}"
    return None


def check(top):
    floors = read_floors(top / "docs" / "architecture.md")
    breaches = []
    if floors.get(EVERYWHERE) != 0:
        breaches.append("docs/architecture.md: its table of floors cannot be read")
    settings = settings_of(top)
    sources = 0
    for folder in ("penstock", "tests", "bench", "examples", "simulate"):
        for path in sorted((top / folder).rglob("*")):
            if path.suffix not in (".cpp", ".hpp", ".in", ".py"):
                continue
            sources += 1
            where = path.relative_to(top)
            module = module_of(floors, where.parts[1:]) if folder == "penstock" else None
            if module is not None and module not in floors:
                breaches.append(f"{where}: '{module}' is no module of docs/architecture.md; give it a row there")
                continue
            asked = settings & set(re.findall(r"\bPENSTOCK_\w+", path.read_text())) if path.suffix in (".cpp", ".hpp") else ()
            if asked and not reaches(top, path, SETTINGS, set()):
                breaches.append(f"{where}: asks {', '.join(sorted(asked))} without including {SETTINGS}")
            for number, header in includes_of(path):
                problem = breach(floors, module, header)
                if problem:
                    breaches.append(f"{where}:{number}: {header} {problem}")
    return sources, breaches


def main():
    sources, breaches = check(pathlib.Path(sys.argv[1]))
    for line in breaches:
        print(line)
    if sources == 0:
        print(f"no sources under {sys.argv[1]}")
    print(f"{sources} files, {len(breaches)} breaches")
    return 1 if breaches or sources == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
