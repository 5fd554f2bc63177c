#!/usr/bin/env python3
"""`--help` of every subcommand describes every option, and docs/options.md says the same."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import command

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts"))
import help_pages  # noqa: E402


class Help(unittest.TestCase):
    def test_every_option_says_what_it_takes_and_what_it_is_without(self):
        paths = help_pages.subcommands(command.COMMAND)
        self.assertIn(("model", "fft"), paths)
        self.assertIn(("reproduce",), paths)
        for path in paths:
            options = help_pages.options(help_pages.help_of(command.COMMAND, path))
            self.assertIn("--json", [option.names for option in options])
            for option in options:
                with self.subTest(subcommand=path, option=option.names):
                    self.assertGreater(len(option.description.split()), 1)
                    if option.value:
                        self.assertTrue(option.default, option.description)

    @unittest.skipUnless(command.MPIEXEC and command.HAS_PAGES, "the page is of a build with MPI and pages")
    def test_the_page_of_options_says_what_help_says(self):
        self.assertEqual(help_pages.PAGE.read_text(), help_pages.page(command.COMMAND),
                         "write it anew: scripts/help_pages.py options build/release/penstock")

    def test_manual_pages_have_every_option_and_no_warnings(self):
        with tempfile.TemporaryDirectory() as folder:
            help_pages.write_man_pages(command.COMMAND, folder)
            for path in [(), *help_pages.subcommands(command.COMMAND)]:
                page = pathlib.Path(folder) / ("-".join(("penstock", *path)) + ".1")
                with self.subTest(page=page.name):
                    text = page.read_text().replace("\\-", "-")
                    for option in help_pages.options(help_pages.help_of(command.COMMAND, path)):
                        self.assertIn(option.names.split(",")[-1], text)
                    if shutil.which("groff"):
                        shown = subprocess.run(["groff", "-man", "-Tutf8", "-ww", page], capture_output=True, text=True)
                        self.assertEqual((shown.returncode, shown.stderr), (0, ""))

    def test_bash_completes_subcommands_options_and_choices(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "penstock"
            script.write_text(help_pages.completion(command.COMMAND))
            for words, expected in (
                (["penstock", "nas"], "nas-ft"),
                (["penstock", "bench", "lat"], "latency"),
                (["penstock", "fft", "--scal"], "--scaling"),
                (["penstock", "fft", "--size", "8x8x8", "--scaling", "sym"], "symmetric"),
            ):
                asked = (f'source {script}; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _penstock; '
                         'echo "${COMPREPLY[*]}"')
                found = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True).stdout
                self.assertEqual(re.split(r"\s+", found.strip()), [expected])


if __name__ == "__main__":
    unittest.main()
