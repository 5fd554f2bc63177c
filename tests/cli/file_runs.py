"""What tests of long runs over files share: a machine whose storage is known, and kills at random moments.

PENSTOCK_TEST_KILLS says how many kills a campaign makes (4); PENSTOCK_TEST_SEED repeats them.
"""

import json
import os
import random
import signal
import subprocess
import time

import command

KILLS = int(os.environ.get("PENSTOCK_TEST_KILLS", "4"))
SEED = int(os.environ.get("PENSTOCK_TEST_SEED", time.time_ns() % 1000000))
STORAGE = """
[[node.memory_levels]]
name = "storage"
capacity_bytes = 1_000_000_000_000
bandwidth_bytes_per_s = 1e9
latency_s = 1e-4
"""


class FileRunTest(command.CommandTest):
    def setUp(self):
        super().setUp()
        # Nothing is measured where a machine is given, so that runs are short.
        self.machine = self.cache.parent / "machine.toml"
        self.machine.write_text(command.MACHINE.read_text() + STORAGE)

    def kill_after(self, delay_s, line):
        """Runs the command and kills it then; whether it was still at it."""
        with subprocess.Popen(
            [command.COMMAND, *line], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(delay_s)
            process.send_signal(signal.SIGKILL)
            status = process.wait()
        self.assertIn(status, (0, -signal.SIGKILL))
        return status != 0

    def check_peaks(self, line, result, budgets_mib):
        """The command of `line` never has more than 2 % above --memory, nor where it goes on after a kill."""
        for mib in budgets_mib:
            for is_resumed in (False, True):
                with self.subTest(mib=mib, is_resumed=is_resumed):
                    (self.folder / result).unlink(missing_ok=True)
                    budgeted = [*line, "--memory", f"{mib}MiB"]
                    if is_resumed:
                        self.kill_after(0.6, budgeted)
                    ending = self.run_alone(*budgeted, "--json", "peak.json")
                    self.assertEqual(ending.status, 0, ending.stderr)
                    figures = json.loads((self.folder / "peak.json").read_text())
                    self.assertLessEqual(figures["peak_resident_bytes"], 1.02 * mib * 2**20)
                    self.assertGreater(figures["peak_resident_bytes"], 0.75 * mib * 2**20)

    def kill_and_go_on(self, line, run, result):
        """`run()` makes the file `result` as the command of `line` does: again and again after some kills, with the same
        bytes and nothing else left. Yields what the runs to the end returned."""
        begin_s = time.monotonic()
        run()
        whole_s = time.monotonic() - begin_s
        expected = (self.folder / result).read_bytes()
        left = self.left_behind()
        chance = random.Random(SEED)
        kills = 0
        while kills < KILLS:
            with self.subTest(seed=SEED, kill=kills):
                (self.folder / result).unlink(missing_ok=True)
                while self.kill_after(chance.uniform(0.1 * whole_s, whole_s), line):
                    kills += 1
                    if kills >= KILLS:
                        break
                yield run()
                self.assertEqual((self.folder / result).read_bytes(), expected)
                self.assertEqual(self.left_behind(), left)
