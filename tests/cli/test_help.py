#!/usr/bin/env python3
"""`--help` of every subcommand describes every option, and docs/options.md says the same."""

import unittest

import command
import help_pages


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

    @unittest.skipUnless(command.MPIEXEC, "the page is of a build with MPI, which has more options")
    def test_the_page_of_options_says_what_help_says(self):
        self.assertEqual(help_pages.PAGE.read_text(), help_pages.page(command.COMMAND),
                         "write it anew: PENSTOCK_COMMAND=build/release/penstock tests/cli/help_pages.py --write")


if __name__ == "__main__":
    unittest.main()
