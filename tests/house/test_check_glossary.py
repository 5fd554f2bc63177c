#!/usr/bin/env python3
"""Names with a word that the glossary rules out are found, in types, functions, constants and options."""

import pathlib
import tempfile
import unittest

import check_glossary

GLOSSARY = """# Glossary

| term | what it means | not |
|---|---|---|
| min, max | the smallest, the largest | least, most |
| least squares | a fit | |
| abandon | to stop waiting | give_up |
| wisdom | what is known | |
"""


class CheckGlossaryTest(unittest.TestCase):
    def breaches(self, path, text):
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder)
            (top / "docs").mkdir()
            (top / "docs" / "glossary.md").write_text(GLOSSARY)
            source = top / path
            source.parent.mkdir(parents=True)
            source.write_text(text)
            return check_glossary.check(top)[1]

    def assert_found(self, path, line, name):
        [found] = self.breaches(path, f"// a header\n{line}\n")
        self.assertIn(f"{path}:2: '{name}'", found)

    def test_names_of_headers(self):
        header = "penstock/fft/a.hpp"
        self.assert_found(header, "class MostOf {", "MostOf")
        self.assert_found(header, "  std::int64_t least_of(int a) const;", "least_of")
        self.assert_found(header, "  void wait_or_give_up();", "wait_or_give_up")
        self.assert_found(header, "inline constexpr std::size_t most_stages = 7;", "most_stages")
        self.assert_found(header, "using Most = int;", "Most")

    def test_options_of_the_command(self):
        self.assert_found("penstock/cli/fft/a.cpp", '  add_value(app, "--least-size", "N", "");', "least-size")

    def test_what_is_no_breach(self):
        header = "penstock/fft/a.hpp"
        self.assertEqual(self.breaches(header, "Fit solve_least_squares(int a);  // the most of it\n"), [])
        self.assertEqual(self.breaches(header, "struct Almost {\n  void give(int upward);\n"), [])
        self.assertEqual(self.breaches("penstock/fft/a.cpp", "int most(int a) {\n"), [])

    def test_a_page_without_words(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "docs").mkdir()
            (pathlib.Path(folder) / "docs" / "glossary.md").write_text("# Glossary\n")
            self.assertEqual(len(check_glossary.check(pathlib.Path(folder))[1]), 1)


if __name__ == "__main__":
    unittest.main()
