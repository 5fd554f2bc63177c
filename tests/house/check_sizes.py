#!/usr/bin/env python3
"""Asserts that functions, classes and what faces include stay small enough to be read.

Usage: check_sizes.py SOURCE_FOLDER. Reads the sources under penstock/, which clang-format has laid out: a body ends at the
first line that closes it at its own depth. Prints a line for each breach and exits 1, or says how much it looked at.
"""

import pathlib
import re
import sys

MAX_FUNCTION_LINES = 85
MAX_DATA_MEMBERS = 28
MAX_INCLUDED = 52  # headers of ours, that a module's face has directly and through others
MAX_INCLUDED_BY = {"fft": 20, "gas": 34}

FUNCTION = re.compile(r"^(\s{0,2})(?!namespace|class|struct|enum|union|if|for|while|switch|else|do|try|return|\})\S.*\{$")
CLASS = re.compile(r"^(\s*)(?:class|struct) (?:\[\[\w+\]\] )?([\w:<>]+)[^;(]*\{$")
MEMBER = re.compile(r"(?!static|using|friend|return|constexpr)[\w:<>,\s*&\[\]()]*\b\w+_(\s*=.*|\{.*\})?;$")
INCLUDE = re.compile(r'^\s*#\s*include "(penstock/[^"]+)"', re.MULTILINE)


def code_of(line):
    return line.split("//")[0].rstrip()


def bodies(lines, opening):
    """The first line's number, its match and the lines of each body that `opening` begins."""
    for i, line in enumerate(lines):
        match = opening.match(code_of(line))
        if match:
            closing = match[1] + "}"
            end = next((j for j in range(i + 1, len(lines)) if lines[j].startswith(closing)), i)
            yield i + 1, match, lines[i : end + 1]


def breaches_of(lines):
    for number, _, body in bodies(lines, FUNCTION):
        if "(" in body[0] and len(body) > MAX_FUNCTION_LINES and not CLASS.match(body[0]):
            yield number, f"a function of {len(body)} lines, and at most {MAX_FUNCTION_LINES} are allowed"
    for number, match, body in bodies(lines, CLASS):
        depth = len(match[1]) + 2
        members = [line for line in map(code_of, body[1:]) if line[:depth].isspace() and MEMBER.match(line[depth:])]
        if len(members) > MAX_DATA_MEMBERS:
            yield number, f"{match[2]} has {len(members)} data members, and at most {MAX_DATA_MEMBERS} are allowed"


def is_face(path):
    """Whether the header of that path is a module's face. The command, which no other module includes, has none."""
    return path.suffix == ".hpp" and path.stem == path.parent.name and path.parts[1] != "cli"


def included_by(top, header, known):
    for name in INCLUDE.findall((top / header).read_text()):
        if name not in known and (top / name).exists():
            known.add(name)
            included_by(top, name, known)
    return known


def check(top):
    breaches = []
    sources = sorted((top / "penstock").rglob("*.[ch]pp"))
    for path in sources:
        for number, problem in breaches_of(path.read_text().splitlines()):
            breaches.append(f"{path.relative_to(top)}:{number}: {problem}")
    for face in (path for path in sources if is_face(path.relative_to(top))):
        included = len(included_by(top, str(face.relative_to(top)), set()))
        most = MAX_INCLUDED_BY.get(face.stem, MAX_INCLUDED)
        if included > most:
            breaches.append(f"{face.relative_to(top)}: {included} headers of ours are included, and at most {most} may be")
    return len(sources), breaches


def main():
    sources, breaches = check(pathlib.Path(sys.argv[1]))
    for line in breaches:
        print(line)
    print(f"{sources} files, {len(breaches)} breaches")
    return 1 if breaches or sources == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
