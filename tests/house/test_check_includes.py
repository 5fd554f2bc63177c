#!/usr/bin/env python3
"""Each kind of breach in a made-up source tree is found, and nothing else is."""

import pathlib
import tempfile
import unittest

import check_includes

PAGE = """
| floor | module | its one job |
|---|---|---|
| 3 | `lab/plot/` | curves |
| 3 | `lab/nas/` | a benchmark |
| 2 | `fft/` | transforms |
| 1 | `gas/` | moves |
| 1 | `model/` | predicts |
| 0 | `npy/` | files |
| 0 | `base/` | errors |
"""


class CheckIncludes(unittest.TestCase):
    def breaches(self, path, text):
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder)
            (top / "docs").mkdir()
            (top / "docs" / "architecture.md").write_text(PAGE)
            (top / "penstock" / "base").mkdir(parents=True)
            (top / "penstock" / "base" / "config.hpp.in").write_text("#cmakedefine01 PENSTOCK_HAS_X\n")
            source = top / path
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_text(text)
            return check_includes.check(top)[1]

    def assert_breach(self, path, text, part):
        found = self.breaches(path, text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_lower_faces_base_and_own_headers_are_fine(self):
        text = (
            '#include <vector>\n#include "penstock/gas/gas.hpp"\n#include "penstock/base/file.hpp"\n'
            '#include "penstock/fft/plan.hpp"\n'
        )
        self.assertEqual(self.breaches("penstock/fft/plan.cpp", text), [])
        self.assertEqual(self.breaches("penstock/npy/npy.hpp", '#include "penstock/base/file.hpp"\n'), [])

    def test_includes_upwards_and_sideways_are_found(self):
        self.assert_breach("penstock/gas/a.cpp", '#include "penstock/fft/fft.hpp"\n', "a.cpp:1: penstock/fft/fft.hpp")
        self.assert_breach("penstock/gas/a.cpp", '\n#include "penstock/model/model.hpp"\n', "a.cpp:2")
        self.assert_breach("penstock/base/a.hpp", '#  include <penstock/npy/npy.hpp>\n', "not below base")

    def test_private_headers_of_others_are_found(self):
        self.assert_breach("penstock/fft/a.cpp", '#include "penstock/gas/transport/x.hpp"\n', "private to gas")

    def test_a_folder_of_modules_has_a_face_for_each(self):
        self.assertEqual(self.breaches("penstock/lab/nas/a.cpp", '#include "penstock/fft/fft.hpp"\n'), [])
        self.assertEqual(self.breaches("penstock/lab/nas/a.cpp", '#include "penstock/lab/nas/b.hpp"\n'), [])
        self.assert_breach("penstock/lab/nas/a.cpp", '#include "penstock/lab/plot/plot.hpp"\n', "not below lab/nas")
        self.assert_breach("penstock/fft/a.cpp", '#include "penstock/lab/plot/plot.hpp"\n', "floor 3, not below fft")
        self.assert_breach("penstock/lab/lab.hpp", "", "'lab'")

    def test_tests_may_see_private_headers(self):
        self.assertEqual(self.breaches("tests/gas/a.cpp", '#include "penstock/gas/transport/x.hpp"\n'), [])

    def test_includes_without_a_path_are_found(self):
        self.assert_breach("penstock/gas/a.cpp", '#include "team.hpp"\n', "path")

    def test_settings_that_are_asked_where_they_are_not_defined_are_found(self):
        asks = "#if PENSTOCK_HAS_X\n#endif\n"
        self.assert_breach("penstock/gas/a.cpp", asks, "asks PENSTOCK_HAS_X")
        self.assertEqual(self.breaches("penstock/gas/a.cpp", '#include "penstock/base/config.hpp"\n' + asks), [])

    def test_modules_that_are_not_drawn_are_found(self):
        self.assert_breach("penstock/junk/a.cpp", "", "'junk'")
        self.assert_breach("tests/a.cpp", '#include "penstock/junk/junk.hpp"\n', "'junk'")


if __name__ == "__main__":
    unittest.main()
