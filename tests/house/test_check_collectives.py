#!/usr/bin/env python3
"""Collective calls are found in headers however they are told, and those without a case are reported."""

import pathlib
import tempfile
import unittest

import check_collectives

HEADER = """// Teams.
#pragma once
class Handle;
/// An ordered group. Members marked collective must be called by every rank.
class Team {
 public:
  /// Collective: of all ranks.
  explicit Team(int of);
  ~Team();
  Team(Team&&) noexcept;
  /// Collective: fills.
  /// The values are global.
  void fill(const Source& source);
  void fill_again(int twice);

  /// Not
  /// collective.
  void poll() const { go(); }

  /// Collective: gathers.
  template <class T>
  std::vector<T> gather(const T& mine) const {
    return call(mine);
  }

 private:
  /// Collective.
  void join();
};

/// A file. The members are
/// collective.
template <class Real>
class File {
 public:
  File(const Team& team);
  void write(std::span<const Real> elements,
             int more);
  /// Local.
  int rank() const noexcept;
};

/// Lays out; collective.
template <class T>
Grid split_grid(const Team& team);
int rank_of(int place);
"""


def calls_of(text):
    return sorted(set(check_collectives.collective_calls(text)))


class CheckCollectives(unittest.TestCase):
    def test_comments_tell_what_is_collective(self):
        found = ["File::File", "File::write", "Team::Team", "Team::fill", "Team::fill_again", "Team::gather"]
        self.assertEqual(calls_of(HEADER), [*found, "rank_of", "split_grid"])

    def test_an_empty_line_ends_what_a_comment_is_for(self):
        header = HEADER.replace("int rank_of", "\nint rank_of")
        self.assertNotIn("rank_of", calls_of(header))

    def test_files_about_collective_calls_need_no_word(self):
        header = "// Collective calls of a team that are begun.\n#pragma once\nEvent start(const Team& team, int root);\n"
        self.assertEqual(calls_of(header), ["start"])

    def check(self, header, test):
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder)
            (top / "tests" / "collective").mkdir(parents=True)
            (top / "tests" / "collective" / "a.cpp").write_text(test)
            for module in check_collectives.MODULES:
                (top / "penstock" / module).mkdir(parents=True)
                (top / "penstock" / module / f"{module}.hpp").write_text(header if module == "gas" else "")
            return check_collectives.check(top)[1]

    def test_calls_without_a_case_and_cases_without_a_call_are_reported(self):
        header = "/// Collective.\nvoid meet(int at);\n"
        self.assertEqual(self.check(header, '      {"gas::meet, too early",\n'), [])
        self.assertEqual(len(self.check(header, "")), 1)
        self.assertEqual(len(self.check(header, '{"gas::meet", [](int) {}},\n{"gas::part",\n')), 1)


if __name__ == "__main__":
    unittest.main()
