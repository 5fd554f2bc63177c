#!/usr/bin/env python3
"""penstock bench pack: the table beside the JSON, every case verified, and clear refusals."""

import json
import unittest

import command

KEYS = (
    "name", "regime", "operation", "bytes", "ours_bytes_per_s", "mpi_bytes_per_s", "hand_bytes_per_s",
    "memcpy_bytes_per_s", "ours_median_bytes_per_s", "emit_s", "first_use_s", "break_even_uses", "mover",
)  # fmt: skip


@unittest.skipUnless(command.MPIEXEC, "a build without MPI has no MPI datatypes")
class BenchPack(command.CommandTest):
    def test_the_table_and_the_json_have_the_same_cases(self):
        result = self.run_alone(
            "bench", "pack", "--filter", "NAS_LU_y_12$|hvec3", "--rounds", "2", "--json", "pack.json"
        )
        self.assertEqual(result.status, 0, result.stderr)
        facts = json.loads((self.folder / "pack.json").read_text())
        self.assertTrue(facts["verified"])
        found = [(case["name"], case["regime"], case["operation"], case["bytes"]) for case in facts["cases"]]
        overlapping = ("milc_hvec3_vec32x6x8_ctg18", 110592)
        self.assertEqual(
            sorted(found),
            sorted(
                [("NAS_LU_y_12", regime, way, 480) for regime in ("hot", "cold") for way in ("pack", "unpack")]
                + [(overlapping[0], regime, "pack", overlapping[1]) for regime in ("hot", "cold")]
            ),
        )
        self.assertEqual(facts["not_unpacked"], [overlapping[0]])
        for case in facts["cases"]:
            self.assertLessEqual(set(KEYS), set(case))
            self.assertEqual(case["rounds"], 2)
            for who in ("ours", "mpi", "hand", "memcpy"):
                self.assertGreaterEqual(case[f"{who}_bytes_per_s"], case[f"{who}_median_bytes_per_s"])
                self.assertIn(f"{case[f'{who}_bytes_per_s'] / 1e9:.2f}", result.stdout)
        means = {(mean["group"], mean["regime"], mean["operation"]): mean for mean in facts["geometric_means"]}
        self.assertEqual(means["all", "hot", "pack"]["cases"], 2)
        self.assertEqual(means["under 1 KiB", "cold", "unpack"]["cases"], 1)
        self.assertNotIn(("indexed", "hot", "pack"), means)

    def test_every_case_moves_the_bytes_that_mpi_moves(self):
        result = self.run_alone("bench", "pack", "--regime", "hot", "--rounds", "1", "--json", "-")
        self.assertEqual(result.status, 0, result.stderr)
        facts = json.loads(result.stdout)
        self.assertEqual(len({case["name"] for case in facts["cases"]}), 71)
        self.assertEqual(len(facts["cases"]), 141)

    def test_one_operation_alone(self):
        result = self.run_on(
            1, "bench", "pack", "--filter", "face_z", "--rounds", "1", "--regime", "hot", "--operation", "unpack",
            "--json", "-",
        )  # fmt: skip
        self.assertEqual([case["operation"] for case in json.loads(result.stdout)["cases"]], ["unpack"])

    def test_what_cannot_be_used_is_refused_in_one_line(self):
        for arguments, parts in (
            (("--filter", "nothing of this name"), ("leaves none", "seed_MILC")),
            (("--filter", "("), ("regular expression",)),
            (("--regime", "warm"), ("--regime warm", "hot, cold")),
            (("--operation", "both"), ("--operation both",)),
            (("--rounds", "0"), ("--rounds 0",)),
            (("--ranks", "2"), ("2 ranks",)),
            (("--threads", "2"), ("--threads 2",)),
            (("--json", "nowhere/pack.json"), ("nowhere/pack.json", "folder")),
        ):
            with self.subTest(arguments=arguments):
                result = self.run_alone("bench", "pack", *arguments)
                self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)
                for part in parts:
                    self.assertIn(part, result.lines[0])
        result = self.run_on(2, "bench", "pack")
        self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)
        self.assertIn("2 ranks", result.lines[0])
        result = self.run_alone("bench")
        self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)


@unittest.skipIf(command.MPIEXEC, "only for a build without MPI")
class BenchPackWithoutMpi(command.CommandTest):
    def test_says_that_there_is_no_mpi(self):
        result = self.run_alone("bench", "pack")
        self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)
        self.assertIn("no MPI", result.lines[0])


if __name__ == "__main__":
    unittest.main()
