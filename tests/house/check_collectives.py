#!/usr/bin/env python3
"""Asserts that every public collective call is tried with one bad rank.

Usage: check_collectives.py SOURCE_FOLDER. Reads the public headers of the modules below for what their comments call
collective, and tests/collective/*.cpp for the cases, each of which begins with its call's name in quotes. Prints a line
for each call without a case and each case without a call and exits 1, or says how many there are and exits 0.
"""

import pathlib
import re
import sys

# Modules that make collective calls of their own. `probe` and `lab/` are made of these calls and take no arrays.
MODULES = ("gas", "fft", "gemm", "field")

INCLUDE = re.compile(r'^#include "(penstock/(\w+)/[\w/]+\.hpp)"')
SCOPE = re.compile(r"^(\s*)(class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)[^;]*\{\s*$")
DECLARED = re.compile(r"(~?\b\w+)\s*\(")
NO_NAMES = {"requires", "sizeof", "decltype", "static_assert", "alignas", "explicit"}


def public_headers(top, module):
    """The face of a module and what it includes of its own."""
    headers = [f"penstock/{module}/{module}.hpp"]
    for header in headers:
        for line in (top / header).read_text().splitlines():
            match = INCLUDE.match(line)
            if match and match[2] == module and match[1] not in headers:
                headers.append(match[1])
    return headers


def says_collective(text):
    without_others = re.sub(r"not collective|collective call|members (marked|are) collective", "", text, flags=re.I)
    return re.search(r"\bcollective", without_others, re.I) is not None


def declarations(text):
    """What a header declares: scope (the class, or empty), whether it is public, the comment above, the declaration.

    A declaration without a comment of its own that follows another without an empty line has that one's comment.
    """
    scopes = []  # class, indentation, whether what follows is public, the comment of the class
    comment, pending, last_comment = "", "", ""
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("///"):
            comment = f"{comment} {bare[3:].strip()}"
            continue
        if bare.startswith("//") or bare.startswith("#"):
            continue
        if not bare:
            last_comment = ""
            continue
        opened = SCOPE.match(line)
        if opened and (not pending or pending.strip().startswith("template")):
            scopes.append([opened[3], len(opened[1]), opened[2] == "struct", comment])
            comment, pending = "", ""
            continue
        if scopes and re.match(r"^\s*\}", line) and len(line) - len(line.lstrip()) == scopes[-1][1]:
            scopes.pop()
            continue
        if bare in ("public:", "private:", "protected:"):
            scopes[-1][2] = bare == "public:"
            continue
        depth = scopes[-1][1] + 2 if scopes else 0
        if not pending and len(line) - len(line.lstrip()) != depth:
            continue  # the body of a function
        pending += " " + bare
        if bare.startswith("template") and "(" not in bare:
            continue
        if pending.count("(") > pending.count(")") or not re.search(r"[;{}]\s*(//.*)?$", bare):
            continue
        last_comment = comment or last_comment
        scope = scopes[-1] if scopes else ["", 0, True, ""]
        yield scope[0], scope[2], scope[3], last_comment, pending
        comment, pending = "", ""


def name_of(declaration):
    without_template = re.sub(r"^\s*template\s*<.*?>\s*(?=[\w\[:])", "", declaration)
    for match in DECLARED.finditer(without_template):
        if match[1] not in NO_NAMES:
            return match[1]
    return None


def collective_calls(text):
    """The names of the collective calls that a header declares."""
    first = " ".join(re.findall(r"^//(?!/)(.*)$", text.split("#pragma")[0], re.M))
    are_all_of_teams = first.strip().startswith("Collective calls of a team")
    for scope, is_public, of_class, comment, declaration in declarations(text):
        name = name_of(declaration)
        if name is None or not is_public or name.startswith("~") or "= default" in declaration:
            continue
        if re.search(rf"\b{name}\s*\(\s*{scope or '-'}\s*&&", declaration):
            continue
        if are_all_of_teams:
            is_collective = "const Team& team" in declaration
        elif re.search(r"members are collective(?! where)", of_class, re.I):
            is_collective = not re.search(r"\bLocal\b", comment)
        else:
            is_collective = says_collective(comment)
        if is_collective:
            yield f"{scope}::{name}" if scope else name



def check(top):
    calls = set()
    for module in MODULES:
        for header in public_headers(top, module):
            calls.update(f"{module}::{name}" for name in collective_calls((top / header).read_text()))
    tried = set()
    for path in sorted((top / "tests" / "collective").glob("*.cpp")):
        tried.update(re.findall(r'^\s*\{"((?:\w+::)+\w+)(?:, [^"]*)?",', path.read_text(), re.M))
    problems = [f"{call} is collective and has no case with one bad rank" for call in sorted(calls - tried)]
    problems += [f"{call} has a case, and no public header calls it collective" for call in sorted(tried - calls)]
    return calls, problems


def main():
    calls, problems = check(pathlib.Path(sys.argv[1]))
    for line in problems:
        print(line)
    if not calls:
        print(f"no collective calls under {sys.argv[1]}")
    print(f"{len(calls)} collective calls, {len(problems)} problems")
    return 1 if problems or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
