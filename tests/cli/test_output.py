#!/usr/bin/env python3
"""What cannot be written to standard output ends every subcommand with status 1 and one line that says why."""

import unittest

import command
import npy_files

# What prints, by the quickest run of each.
RUNS = (
    ("--version",),
    ("--help",),
    ("fft", "--help"),
    ("fft", "--size", "4x4x4"),
    ("fft", "--input", "f.npy", "--output", "g.npy", "--backward"),
    ("nas-ft", "--class", "S"),
    ("model", "fft"),
    ("model", "plan"),
    ("model", "pingpong", "--machine", "infiniband-ddr"),
    ("model", "topology", "--machine", "fugaku"),
    ("model", "scaling"),
    ("model", "scaling", "--fit", "1:1,2:1.9,4:3.4"),
    ("model", "project", "--machine", "hopper"),
    ("model", "project", "--machine", "cpu-2020", "--against", "gpu-2020"),
    ("reproduce", "all"),
    ("bench", "latency", "--ranks", "2", "--sizes", "8", "--rounds", "2"),
    ("bench", "bandwidth", "--ranks", "2", "--sizes", "8", "--rounds", "2"),
    ("bench", "exchange", "--ranks", "2", "--sizes", "8", "--rounds", "2"),
) + (("bench", "pack", "--filter", "NAS_LU_x_12$", "--rounds", "1"),) * bool(command.MPIEXEC)


class Output(command.CommandTest):
    def setUp(self):
        super().setUp()
        npy_files.write(self.folder / "f.npy", (2, 2, 2), "<c16", range(16))

    def assert_fails(self, reason, result):
        self.assertEqual((result.status, len(result.lines)), (1, 1), result.stderr)
        self.assertIn(f"cannot write to standard output: {reason}", result.lines[0])

    def test_a_full_disk(self):
        for arguments in RUNS:
            json = () if arguments[-1] in ("--help", "--version") else ("--json", "-")
            for line in {arguments, (*arguments, *json)}:
                with self.subTest(arguments=line), open("/dev/full", "w", encoding="ascii") as full:
                    self.assert_fails("No space left on device", self.start([command.COMMAND, *line], stdout=full))

    def test_standard_output_that_is_closed(self):
        for arguments in RUNS[:5]:
            with self.subTest(arguments=arguments):
                line = ["sh", "-c", 'exec "$@" >&-', "sh", command.COMMAND, *arguments]
                self.assert_fails("Bad file descriptor", self.start(line))

    def test_no_file_takes_the_number_of_closed_standard_output(self):
        line = ["sh", "-c", 'exec "$@" >&-', "sh", command.COMMAND, "reproduce", "htmt", "--json", "htmt.json"]
        self.assert_fails("Bad file descriptor", self.start(line))
        self.assertEqual(self.left_behind(), ["f.npy"])

    def test_errors_in_arguments_stay_what_they_are(self):
        result = self.start(["sh", "-c", 'exec "$@" >&-', "sh", command.COMMAND, "fft", "--size", "0x0x0"])
        self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_ranks_end_together(self):
        line = ["sh", "-c", 'exec "$@" >/dev/full', "sh", command.COMMAND, "fft", "--size", "8x8x8", "--ranks", "2"]
        self.assert_fails("No space left on device", self.start(line))


if __name__ == "__main__":
    unittest.main()
