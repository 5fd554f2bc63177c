#!/usr/bin/env python3
"""penstock try: a program as it is and with the libraries for preloading, as a table and as JSON, and clear refusals."""

import json
import unittest

import command

HAS_LIBRARIES = bool(command.MPIEXEC) and not command.IS_SANITIZED


class Try(command.CommandTest):
    @unittest.skipUnless(HAS_LIBRARIES, "no libraries that a program of the system could load")
    def test_both_runs_are_told_of(self):
        result = self.run_alone("try", "--reps", "2", "--libraries", "mpi", "--json", "t.json", "--", "sh", "-c",
                             "echo one; echo $LD_PRELOAD; echo three; exit 3")
        self.assertEqual(result.status, 0, result.stderr)
        self.assertIn("1 of 3 lines differ", result.stdout)
        facts = json.loads((self.folder / "t.json").read_text())
        self.assertEqual((len(facts["without_s"]), len(facts["with_s"])), (2, 2))
        self.assertEqual((facts["status_without"], facts["status_with"]), (3, 3))
        self.assertEqual((facts["output_lines"], facts["output_lines_that_differ"]), (3, 1))
        self.assertIn("libpenstock-mpi", facts["libraries"][0])

    @unittest.skipUnless(HAS_LIBRARIES, "no libraries that a program of the system could load")
    def test_what_libraries_tell_is_shown(self):
        result = self.run_alone("try", "--", "sh", "-c", "test -z $PENSTOCK_MPI || echo table of $PENSTOCK_MPI >&2")
        self.assertEqual(result.status, 0, result.stderr)
        self.assertIn("  table of stats", result.stdout)
        self.assertIn("the same 0 lines", result.stdout)

    @unittest.skipUnless(HAS_LIBRARIES, "no libraries that a program of the system could load")
    def test_a_program_that_ends_otherwise_with_them_is_a_failure(self):
        result = self.run_alone("try", "--", "sh", "-c", "test -z $LD_PRELOAD")
        self.assertEqual(result.status, 1)
        self.assertIn("status 0 as it is, and with 1", result.stderr)

    def test_what_cannot_be_tried_is_refused(self):
        for arguments, part in (
            ([], "no program to try"),
            (["--libraries", "blas", "--", "true"], "blas"),
            (["--reps", "0", "--", "true"], "--reps"),
        ):
            result = self.run_alone("try", *arguments)
            self.assertEqual(result.status, 2, result.stderr)
            self.assertIn(part, result.stderr)

    @unittest.skipUnless(HAS_LIBRARIES, "no libraries that a program of the system could load")
    def test_a_program_that_is_not_there_is_named(self):
        result = self.run_alone("try", "--", "/nowhere/program")
        self.assertNotEqual(result.status, 0)
        self.assertIn("/nowhere/program", result.stderr)


if __name__ == "__main__":
    unittest.main()
