#!/usr/bin/env python3
"""The help of every subcommand: read into options, and written into docs/options.md by `help_pages.py --write`."""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "options.md"
HEADING = """# Options

What `--help` of every subcommand says; `tests/cli/help_pages.py --write` writes this page, and a test compares the two. The
default of an option is in the parentheses behind its description.
"""
COLUMN = " " * 30  # of descriptions


@dataclasses.dataclass
class Option:
    """A line of help: "--reps", "N", "Timed repetitions (10)"."""

    names: str
    value: str
    description: str

    @property
    def default(self):
        found = re.search(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)$", self.description)
        return found.group(1) if found else None


def help_of(command, subcommand):
    return subprocess.run([command, *subcommand, "--help"], capture_output=True, text=True, check=True).stdout


def section(text, title):
    found = re.search(rf"^{title}:\n((?:  .*\n|\n(?=  ))*)", text, re.MULTILINE)
    return found.group(1).splitlines() if found else []


def subcommands(command, parent=()):
    """The paths of all subcommands that have none below them."""
    names = [line.split()[0] for line in section(help_of(command, parent), "Subcommands") if re.match(r"  \S", line)]
    return [path for name in names for path in subcommands(command, (*parent, name))] or [parent]


def options(text):
    """Descriptions begin in a column of their own, or in the line below names that are too wide."""
    found = []
    lines = section(text, "Positionals") + section(text, "Options")
    for line, following in zip(lines, [*lines[1:], ""]):
        if line.strip() and not line.startswith(COLUMN):
            is_wide = following.startswith(COLUMN)
            names, _, value = (line if is_wide else line[: len(COLUMN)]).strip().partition(" ")
            description = following if is_wide else line[len(COLUMN) :]
            found.append(Option(names, re.sub(r" ?(Excludes: .*|REQUIRED)$", "", value), description.strip()))
    return found


def page(command):
    text = HEADING
    for path in subcommands(command):
        text += f"\n## penstock {' '.join(path)}\n\n| option | value | what it does |\n|---|---|---|\n"
        for option in options(help_of(command, path)):
            cells = (f"`{option.names}`", f"`{option.value}`" if option.value else "", option.description)
            text += "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
    return text


if __name__ == "__main__":
    assert sys.argv[1:] == ["--write"], __doc__
    PAGE.write_text(page(os.environ.get("PENSTOCK_COMMAND", "build/release/penstock")))
