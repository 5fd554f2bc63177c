#!/usr/bin/env python3
"""The help of every subcommand, read into options and written in other forms.

    help_pages.py options COMMAND             docs/options.md
    help_pages.py man COMMAND FOLDER          penstock.1, penstock-fft.1, ...
    help_pages.py completion COMMAND FILE     the completion of bash
"""

import dataclasses
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "options.md"
HEADING = """# Options

What `--help` of every subcommand says; `scripts/help_pages.py options` writes this page, and a test compares the two. The
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


def summary(text):
    """The first line of a help: what the command is for."""
    return text.splitlines()[0].rstrip(".")


def roff(text):
    """Text as roff takes it: backslashes and hyphens as they are, no line that begins as a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def man_page(command, path, version):
    """The manual page of a subcommand, or of the command itself, whose path is empty."""
    name = "-".join(("penstock", *path))
    text = help_of(command, path)
    page = f'.TH {roff(name.upper())} 1 "" "Penstock {version}" "User Commands"\n'
    page += f".SH NAME\n{roff(name)} \\- {roff(summary(text))}\n.SH SYNOPSIS\n.B {roff(' '.join(('penstock', *path)))}\n"
    page += "[\\fIOPTIONS\\fR]\n" if path else "[\\fIOPTIONS\\fR] \\fISUBCOMMAND\\fR ...\n"
    page += ".SH OPTIONS\n"
    for option in options(text):
        value = f" \\fI{roff(option.value)}\\fR" if option.value else ""
        page += f".TP\n\\fB{roff(option.names.replace(',', ', '))}\\fR{value}\n{roff(option.description)}\n"
    others = [other for other in subcommands(command) if other != path] if not path else [()]
    if not path:
        page += ".SH SUBCOMMANDS\n"
        for other in others:
            page += f".TP\n.BR {roff('-'.join(('penstock', *other)))} (1)\n{roff(summary(help_of(command, other)))}\n"
    page += ".SH SEE ALSO\n"
    names = ["-".join(("penstock", *other)) for other in others]
    return page + ",\n".join(f".BR {roff(other)} (1)" for other in names) + "\n"


def write_man_pages(command, folder):
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for path in [(), *subcommands(command)]:
        page = folder / ("-".join(("penstock", *path)) + ".1")
        page.write_text(man_page(command, path, version.rstrip(",;")))


def completion(command):
    """A script for bash: subcommands, options, and their values where these are choices or files."""
    text = "# Completion of penstock for bash, made from its help.\n_penstock() {\n"
    text += '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} path= i\n'
    text += '  for ((i = 1; i < COMP_CWORD; ++i)); do\n    case ${COMP_WORDS[i]} in -*) break ;; esac\n'
    text += '    path+=" ${COMP_WORDS[i]}"\n  done\n  case "$path" in\n'
    leaves = subcommands(command)
    paths = sorted({path[:length] for path in leaves for length in range(len(path) + 1)})
    for path in paths:
        offered = options(help_of(command, path))
        below = sorted({leaf[len(path)] for leaf in leaves if len(leaf) > len(path) and leaf[: len(path)] == path})
        names = [name for option in offered for name in option.names.split(",")]
        text += f'  "{"".join(" " + part for part in path)}")\n    case $before in\n'
        for option in offered:
            choices = option.value.split("|")
            if "FILE" in option.value:
                text += f"    {option.names.replace(',', '|')}) compopt -o default; COMPREPLY=(); return ;;\n"
            elif len(choices) > 1 and all(re.fullmatch(r"[a-z0-9_+-]+", choice) for choice in choices):
                text += f"    {option.names.replace(',', '|')})"
                text += f' COMPREPLY=($(compgen -W "{" ".join(choices)}" -- "$word")); return ;;\n'
        text += f'    esac\n    COMPREPLY=($(compgen -W "{" ".join([*below, *names])}" -- "$word")) ;;\n'
    return text + "  *) compopt -o default ;;\n  esac\n}\ncomplete -F _penstock penstock\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["options"] and len(sys.argv) == 3:
        PAGE.write_text(page(sys.argv[2]))
    elif sys.argv[1:2] == ["man"] and len(sys.argv) == 4:
        write_man_pages(*sys.argv[2:])
    elif sys.argv[1:2] == ["completion"] and len(sys.argv) == 4:
        pathlib.Path(sys.argv[3]).write_text(completion(sys.argv[2]))
    else:
        sys.exit(__doc__)
