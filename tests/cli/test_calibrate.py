#!/usr/bin/env python3
"""penstock calibrate: a machine file that says how sure it is, and that every other command takes."""

import json
import re
import tomllib
import unittest

import command


class Calibrate(command.CommandTest):
    def calibrate(self, processes, *arguments):
        result = self.run_on(processes, "calibrate", "--quick", "--json", "figures.json", *arguments)
        self.assertEqual(result.status, 0, result.stderr)
        return result.stdout, json.loads((self.folder / "figures.json").read_text())

    def test_what_is_written_is_read_again_and_serves(self):
        device = ("--device", "any") if command.has_device() else ()
        table, facts = self.calibrate(1, "--ranks", "2", "-o", "machine.toml", *device)
        self.assertIn("memory, 1 thread", table)
        text = (self.folder / "machine.toml").read_text()
        self.assertRegex(text.splitlines()[0], r"^# Written by penstock calibrate --quick .* on \d{4}-\d\d-\d\d ")
        machine = tomllib.loads(text)
        for figure in facts["figures"]:
            with self.subTest(key=figure["key"]):
                self.assertGreaterEqual(figure["best"], 0)
                self.assertGreaterEqual(figure["samples"], 1)
                if "_bytes_s" in figure["key"] or "gemm" in figure["key"]:
                    continue  # a point of a fit; the file has the rate of one core
                value = machine
                for word in figure["key"].split("."):
                    value = value[int(word) if word.isdigit() else word]
                self.assertEqual(value, figure["best"])
        self.assertEqual([each["name"] for each in machine["transports"]], ["threads"])
        for key in ("thread_bandwidths", "fft_rates", "tile_copies"):
            self.assertGreater(len(machine["node"][key]), 0)
        self.assertTrue(re.search(r"median .* % off", text))

        # Every command takes it.
        for arguments in (("model", "plan", "--size", "64x64x64", "--threads", "2"),
                          ("model", "fft", "--size", "64x64x64"), ("model", "pingpong")):
            result = self.run_alone(*arguments, "--machine", "./machine.toml")
            self.assertEqual(result.status, 0, result.stderr)
        result = self.run_alone("fft", "--size", "32x32x32", "--ranks", "2", "--machine", "machine.toml", "--json", "-")
        self.assertEqual(result.status, 0, result.stderr)
        facts = json.loads(result.stdout)
        parts = ("predicted_transform_s", "predicted_move_s", "predicted_message_s", "predicted_start_s")
        self.assertAlmostEqual(facts["predicted_s"], sum(facts[part] for part in parts))
        self.assert_beside(facts)
        if device:
            self.assertGreater(len(machine["node"]["device"]["passes"]), 0)
            for place in ("device", "host"):
                result = self.run_alone("fft", *device, "--size", "32x32x32", "--ranks", "2", "--fields-on", place,
                                        "--machine", "machine.toml", "--json", "-")
                self.assertEqual(result.status, 0, result.stderr)
                facts = json.loads(result.stdout)
                self.assertEqual(facts["predicted_by"], "machine file")
                parts = (facts[f"predicted_{part}_s"] for part in ("pass", "bus", "message", "launch"))
                self.assertAlmostEqual(facts["predicted_s"], sum(parts) - facts["predicted_hidden_s"])
                if place == "host":
                    self.assertGreater(facts["predicted_bus_s"], 0)
                self.assert_beside(facts)

            before, name, after = text.partition("[node.device]")
            of_device, next_name, after = after.partition("[[transports]]")
            for exponent, schema in ((12, "fft-device"), (-12, "fft")):  # a device that costs nothing, and a slow one
                of_other = re.sub(r"(?m)^(\w+_bytes_per_s) = \S+", rf"\1 = 1e{9 + exponent}", of_device)
                of_other = re.sub(r"(launch|latency)_s = \S+", r"\1_s = 0", of_other)
                (self.folder / "other.toml").write_text(before + name + of_other + next_name + after)
                result = self.run_alone("fft", "--device", "auto", "--size", "32x32x32", "--machine", "other.toml",
                                        "--json", "figures.json")
                self.assertEqual(result.status, 0, result.stderr)
                self.assertRegex(result.stdout, r"(?m)^Choice +predicted .* through .* on the processors: ")
                self.assertEqual(json.loads((self.folder / "figures.json").read_text())["schema"], schema)

    def assert_beside(self, facts):
        # A model that is not beside the point, on a machine that may be busy.
        self.assertAlmostEqual(facts["prediction_error"], facts["predicted_s"] / facts["forward_min_s"] - 1)
        self.assertGreater(facts["predicted_s"], facts["forward_min_s"] / 100)
        self.assertLess(facts["predicted_s"], facts["forward_min_s"] * 100)

    @unittest.skipUnless(command.MPIEXEC, "a build without MPI")
    def test_every_transport_between_processes_is_there(self):
        self.calibrate(2, "-o", "machine.toml", "--disk", ".")
        machine = tomllib.loads((self.folder / "machine.toml").read_text())
        names = [each["name"] for each in machine["transports"]]
        self.assertIn("mpi", names)
        self.assertIn("shm", names)
        for transport in machine["transports"]:
            self.assertLessEqual(0, transport["progress"])
            self.assertLessEqual(transport["progress"], 1)
            self.assertEqual(transport["pieces"][0]["from_bytes"], 0)
        result = self.run_on(2, "fft", "--size", "32x32x32", "--transport", "mpi", "--machine", "machine.toml")
        self.assertEqual(result.status, 0, result.stderr)
        self.assertIn("Predicted", result.stdout)

    def test_what_cannot_be_written_is_refused_before_the_work(self):
        for arguments in (("-o", "no/such/folder.toml"), ("-o", "machine.toml", "--disk", "no/such/folder")):
            result = self.run_alone("calibrate", *arguments)
            self.assertEqual(len(result.lines), 1, result.stderr)
            self.assertNotEqual(result.status, 0)
            self.assertIn("no/such", result.lines[0])
            self.assertEqual(self.left_behind(), [])


if __name__ == "__main__":
    unittest.main()
