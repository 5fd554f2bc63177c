#!/usr/bin/env python3
"""Functions, classes and faces that are too large are found, with the line where they begin."""

import pathlib
import tempfile
import unittest

import check_sizes


class CheckSizesTest(unittest.TestCase):
    def breaches(self, **sources):
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder)
            for name, text in sources.items():
                path = top / "penstock" / "fft" / name.replace("_hpp", ".hpp").replace("_cpp", ".cpp")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_sizes.check(top)[1]

    def test_long_functions(self):
        body = "  a();\n" * (check_sizes.MAX_FUNCTION_LINES - 2)
        self.assertEqual(self.breaches(a_cpp=f"namespace b {{\n\nvoid f(int a) {{\n{body}}}\n\n}}\n"), [])
        [found] = self.breaches(a_cpp=f"namespace b {{\n\nvoid f(int a) {{\n{body}  a();\n}}\n\n}}\n")
        self.assertIn("a.cpp:3: a function of 86 lines", found)
        [found] = self.breaches(a_hpp=f"class A {{\n  int f(int a) const {{\n{body}\n  }}\n}};\n")
        self.assertIn("a.hpp:2: ", found)

    def test_classes_with_many_members(self):
        members = "".join(f"  std::vector<int> a{i}_ = {{}};\n" for i in range(check_sizes.MAX_DATA_MEMBERS))
        rest = "  static int s_;\n  int f() { return a_; }\n"
        self.assertEqual(self.breaches(a_hpp=f"class A {{\n{members}{rest}}};\n"), [])
        [found] = self.breaches(a_hpp=f"\nclass A {{\n{members}{rest}  bool more_ = false;\n}};\n")
        self.assertIn("a.hpp:2: A has 29 data members", found)

    def test_faces_that_include_much(self):
        most = check_sizes.MAX_INCLUDED_BY["fft"]
        parts = {f"p{i}_hpp": "" for i in range(most)}
        face = "".join(f'#include "penstock/fft/p{i}.hpp"\n' for i in range(most))
        self.assertEqual(self.breaches(fft_hpp=face, **parts), [])
        parts["p0_hpp"] = '#include "penstock/fft/q.hpp"\n'
        [found] = self.breaches(fft_hpp=face, q_hpp="", **parts)
        self.assertIn(f"fft.hpp: {most + 1} headers", found)


if __name__ == "__main__":
    unittest.main()
