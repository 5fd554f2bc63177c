#!/usr/bin/env python3
"""Asserts that links in Markdown pages lead to files and headings that there are.

Usage: check_links.py SOURCE_FOLDER. Prints each link that leads nowhere and exits 1, or exits 0.
"""

import pathlib
import re
import subprocess
import sys

# Text of a page of another folder, which a program writes.
TEMPLATES = {"bench/validation/page.md"}
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")


def pages(folder):
    """The Markdown pages of the sources, whether git keeps them or not."""
    listed = subprocess.run(["git", "-C", folder, "ls-files", "*.md"], capture_output=True, text=True)
    names = listed.stdout.split() if listed.returncode == 0 else []
    if names:
        return [folder / name for name in names if (folder / name).exists()]
    return [page for page in folder.rglob("*.md") if not {"build", ".git"} & set(page.relative_to(folder).parts)]


def without_code(text):
    return re.sub(r"^```.*?^```|^(?: {4}|\t).*?$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    found = {}
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
    return {name if i == 0 else f"{name}-{i}" for name, last in found.items() for i in range(last + 1)}


def broken_links(folder):
    folder = pathlib.Path(folder)
    broken = []
    for page in pages(folder):
        if str(page.relative_to(folder)) in TEMPLATES:
            continue
        for target in LINK.findall(without_code(page.read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path) if path else page
            if not file.exists():
                broken.append(f"{page.relative_to(folder)}: {target}: there is no such file")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                broken.append(f"{page.relative_to(folder)}: {target}: that page has no such heading")
    return broken


if __name__ == "__main__":
    found = broken_links(sys.argv[1])
    print("\n".join([*found, f"{len(found)} links lead nowhere"]))
    sys.exit(1 if found else 0)
