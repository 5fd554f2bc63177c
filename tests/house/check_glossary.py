#!/usr/bin/env python3
"""Asserts that names use the words of docs/glossary.md.

Usage: check_glossary.py SOURCE_FOLDER. The page's last column lists words that stand for the term of a row, and that no
type, function or constant of a header under penstock/ and no option of the command may have as a part of its name.
Prints a line for each name that has one and exits 1, or says how much it looked at and exits 0.
"""

import pathlib
import re
import sys

ROW = re.compile(r"^\|(?P<term>[^|]+)\|[^|]+\|(?P<words>[^|]*)\|$")
NAMES = (
    re.compile(r"^\s*(?:enum class|enum|class|struct|using)\s+(\w+)\b"),
    re.compile(r"^\s*(?:[\w:<>,*&\[\]\s]+?[\s*&>])(\w+)\("),  # a function, or a member
    re.compile(r"^\s*(?:static |inline )*constexpr\s+[\w:]+\s+(\w+)\s*[={]"),
)
OPTION = re.compile(r'"--([a-z-]+)"')


def read_words(page):
    """The terms, and the words that are ruled out, each with the term that stands for it."""
    terms, ruled_out = set(), {}
    for line in page.read_text().splitlines():
        row = ROW.match(line)
        if row and row["term"].strip() not in ("term", "---"):
            terms |= {"_".join(term.split()) for term in row["term"].split(",")}
            ruled_out |= {word: row["term"].strip() for word in re.findall(r"[a-z_]+", row["words"])}
    return terms, ruled_out


def parts_of(name):
    """The words of CamelCase, snake_case and dashed names."""
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def names_of(path):
    """The numbered names that a header declares, or the options that a source does."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        code = line.split("//")[0]
        if path.suffix == ".hpp":
            for pattern in NAMES:
                match = pattern.match(code)
                if match:
                    yield number, match[1]
        if "cli" in path.parts[-3:-1]:
            for option in OPTION.findall(code):
                yield number, option


def check(top):
    terms, ruled_out = read_words(top / "docs" / "glossary.md")
    breaches = []
    if not ruled_out:
        breaches.append("docs/glossary.md: its table cannot be read")
    names = 0
    for path in sorted((top / "penstock").rglob("*.[ch]pp")):
        for number, name in names_of(path):
            names += 1
            spelled = "_" + "_".join(parts_of(name)) + "_"
            for term in terms:  # least squares is a term, though least is none
                spelled = spelled.replace(f"_{term}_", "_")
            for word in ruled_out:
                if f"_{word}_" in spelled:
                    breaches.append(f"{path.relative_to(top)}:{number}: '{name}' says '{word}' for: {ruled_out[word]}")
    return names, breaches


def main():
    names, breaches = check(pathlib.Path(sys.argv[1]))
    for line in breaches:
        print(line)
    print(f"{names} names, {len(breaches)} breaches")
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
