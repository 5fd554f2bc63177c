#!/usr/bin/env python3
"""`penstock fft --device`: transforms on what OpenCL or CUDA shows, checked; and what is said where that cannot be."""

import json
import unittest

import command


@unittest.skipUnless(command.has_device(), "this system has no device")
class OnDevices(command.CommandTest):
    def run_device(self, *arguments, ranks=1):
        result = self.run_on(ranks, "fft", "--device", "any", "--reps", "1", "--check", "--json", "-", *arguments)
        self.assertEqual(result.status, 0, result.stderr)
        return json.loads(result.stdout)

    def test_fields_on_both_sides_of_the_bus_are_transformed(self):
        for place in ("device", "host"):
            for kind in ("c2c", "r2c"):
                figures = self.run_device("--size", "20x12x9", "--type", kind, "--fields-on", place, "--batch", "2")
                self.assertLess(figures["relative_error"], figures["tolerance"])
                self.assertEqual(figures["fields_on"], place)
                self.assertGreater(figures["limit_bus_s"] if place == "host" else figures["limit_device_memory_s"], 0)
                self.assertEqual([stage["along"] for stage in figures["forward_stages"]], ["x", "y", "z"])

    def test_fields_larger_than_the_memory_allowed_cross_the_bus_in_chunks(self):
        size = ("--size", "40x36x32")
        fitting = self.run_device(*size, "--fields-on", "host", "--planes-per-message", "1")
        self.assertEqual(fitting["bus_passes"], 1)
        for ranks in command.process_counts():
            budget = ranks * fitting["field_bytes_per_rank"] // 2
            figures = self.run_device(*size, "--fields-on", "host", "--memory", str(budget), ranks=ranks)
            self.assertLess(figures["relative_error"], figures["tolerance"])
            self.assertLessEqual(figures["device_bytes_per_rank"], budget // ranks)
            self.assertEqual(figures["bus_passes"], 2)
            stages = figures["forward_stages"]
            self.assertEqual([stage["pass"] for stage in stages], [0, 0, 1])
            self.assertEqual(sum(stage["sent_bytes"] for stage in stages), figures["field_bytes_per_rank"])
            self.assertGreater(figures["limit_bus_s"], 0)
        little = ("--fields-on", "host", "--memory", str(fitting["field_bytes_per_rank"] // 2))
        result = self.run_alone("fft", "--device", "any", *size, *little, "--reps", "1")
        self.assertRegex(result.stdout, r"(?m)^Bus +2 passes over it, in chunks of \d+ planes?, up to ")

    def test_messages_go_through_the_host_or_straight_between_devices(self):
        for ranks in [n for n in command.process_counts() if n > 1]:
            figures = self.run_device("--size", "12x12x12", "--precision", "single", ranks=ranks)
            self.assertLess(figures["relative_error"], figures["tolerance"])
            self.check_messages(figures)
            if figures["device"]["interface"] == "opencl":  # processes of it share no memory
                self.assertIsNone(figures["direct_from_bytes"])
        figures = self.run_device("--size", "12x12x12", "--ranks", "2")
        self.assertLess(figures["relative_error"], figures["tolerance"])
        self.check_messages(figures)
        result = self.run_alone("fft", "--device", "any", "--size", "12x12x12", "--ranks", "2", "--reps", "1")
        self.assertRegex(result.stdout, r"(?m)^Messages +(straight between devices|through the host: )")

    def check_messages(self, figures):
        for stages in (figures["forward_stages"], figures["backward_stages"]):
            self.assertGreater(sum(stage["sent_bytes"] + stage["direct_bytes"] for stage in stages), 0)
            if figures["direct_from_bytes"] is None:
                self.assertEqual(sum(stage["direct_bytes"] for stage in stages), 0)

    def test_a_timeline_has_the_transforms_and_their_waits(self):
        self.run_device("--size", "12x12x12", "--ranks", "2", "--trace", "trace.json")
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        names = {event["name"] for event in events}
        self.assertTrue({"forward 1", "backward 1", "wait for device or peers"} <= names, names)

    def test_a_table_tells_device_stages_and_limit(self):
        result = self.run_alone("fft", "--device", "any", "--size", "16x16x16", "--reps", "1")
        self.assertEqual(result.status, 0, result.stderr)
        for title in ("Device", "Plan", "Stages", "Limit", "Predicted"):
            self.assertRegex(result.stdout, rf"(?m)^{title} ")
        self.assertIn("as if passes ran at the rate of memory", result.stdout)
        self.assertIn("radices", result.stdout)


class Refusals(command.CommandTest):
    def refused(self, *arguments, size="8x8x8"):
        result = self.run_alone("fft", "--size", size, *arguments)
        self.assertEqual(result.status, 2, result.stderr)
        self.assertEqual(len(result.lines), 1, result.stderr)
        return result.lines[0]

    def test_a_device_that_is_not_there_is_refused_with_those_that_are(self):
        line = self.refused("--device", "opencl:99")
        self.assertIn("no device opencl:99" if command.has_device() else "has no device", line)

    def test_what_only_processors_do_is_refused(self):
        self.assertIn("leave it out", self.refused("--device", "any", "--isa", "portable"))
        self.assertIn("--fields-on goes with --device", self.refused("--fields-on", "host"))
        self.assertIn("give --machine FILE.toml", self.refused("--device", "auto"))
        self.assertIn("leave out --fields-on", self.refused("--device", "auto", "--fields-on", "device"))
        if command.has_device():
            self.assertIn("no sine", self.refused("--device", "any", "--type", "r2r"))
            self.assertIn("local memory", self.refused("--device", "any", size="4194304x1x1"))
            little = self.refused("--device", "any", "--fields-on", "host", "--memory", "1000")
            self.assertRegex(little, r"a plan for 8x8x8 wants .* for chunks of one plane, and may have 1000 B")

    def test_a_system_without_devices_says_so(self):
        nothing = {"OCL_ICD_VENDORS": str(self.folder), "LD_LIBRARY_PATH": ""}
        result = self.start([command.COMMAND, "fft", "--size", "8x8x8", "--device", "opencl:0"], environment=nothing)
        if "has no device" not in result.stderr:  # one of CUDA's, which no variable hides
            self.assertIn("no device opencl:0", result.stderr)
        self.assertEqual(result.status, 2)


if __name__ == "__main__":
    unittest.main()
