#!/usr/bin/env python3
"""check_packages.py finds each kind of disagreement in copies of the files that it reads."""

import pathlib
import shutil
import tempfile
import unittest

import check_packages

SOURCE = pathlib.Path(__file__).parents[2]
FILES = ("CMakeLists.txt", "CHANGELOG.md", "CITATION.cff", "debian-packages.txt", "debian/changelog", "debian/control",
         "debian/rules", "python/pyproject.toml", "python/penstock/_library.py", check_packages.RECIPE)  # fmt: skip


class Breaches(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        for name in [*FILES, *(f"cmake/{path.name}" for path in SOURCE.glob("cmake/*.cmake"))]:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, self.folder / name)

    def replaced(self, name, old, new):
        text = (self.folder / name).read_text()
        self.assertIn(old, text)
        (self.folder / name).write_text(text.replace(old, new))
        return "\n".join(check_packages.breaches(self.folder))

    def test_what_agrees_is_none(self):
        self.assertEqual(check_packages.breaches(self.folder), [])

    def test_a_version_that_was_left_behind(self):
        found = self.replaced("CMakeLists.txt", "penstock VERSION 0.1.", "penstock VERSION 0.2.")
        for name in ("pyproject.toml", "_library.py", "CITATION.cff", "CHANGELOG.md", "changelog", "debian/control"):
            self.assertIn(name, found)

    def test_a_variable_that_cmake_does_not_know(self):
        self.assertIn("PENSTOCK_BLAS", self.replaced(check_packages.RECIPE, "PENSTOCK_GEMM", "PENSTOCK_BLAS"))
        self.assertIn("PENSTOCK_DOCS", self.replaced("debian/rules", "PENSTOCK_BUILD_BENCH", "PENSTOCK_DOCS"))

    def test_a_need_that_is_not_told(self):
        self.assertIn("zlib1g-dev", self.replaced("debian/control", " zlib1g-dev,\n", ""))


if __name__ == "__main__":
    unittest.main()
