#!/usr/bin/env python3
"""penstock explore: the page stands by itself, and its models give the numbers of `penstock model`, to the last digit.

PENSTOCK_TEST_QUESTIONS says how many random questions are asked (200); PENSTOCK_TEST_SEED repeats them.
"""

import html
import json
import os
import random
import re
import shutil
import subprocess
import unittest

import command

QUESTIONS = int(os.environ.get("PENSTOCK_TEST_QUESTIONS", "200"))
SEED = int(os.environ.get("PENSTOCK_TEST_SEED", "28"))
MACHINES = "bluegene-p default frontier fugaku gigabit-ethernet hector hopper infiniband-ddr".split()
# What the page's own script is asked when it has started; the answers become its text.
ASKING = """<script>
const questions = QUESTIONS;
const timer = setInterval(() => {
  if (window.penstock === undefined) {
    return;
  }
  clearInterval(timer);
  const answers = questions.map(([model, ...words]) => {
    try {
      return window.penstock.ask(model, words).json;
    } catch (error) {
      return error.message;
    }
  });
  const place = document.createElement("pre");
  place.id = "answers";
  place.textContent = JSON.stringify(answers);
  document.body.append(place);
}, 10);
</script>"""


def question(chance):
    """The arguments of a random `penstock model`, most of which have an answer."""
    machine = ("--machine", chance.choice(MACHINES))
    nodes = ("--nodes", str(2 ** chance.randint(0, 10)))
    size = ("--size", "x".join(str(chance.choice((64, 96, 128, 243, 256, 1024))) for _ in range(3)))
    some = lambda *words: words if chance.random() < 0.5 else ()  # noqa: E731
    return {
        "fft": lambda: (
            *machine, *nodes, *size, *some("--type", "r2c"), *some("--precision", "single"), *some("--no-overlap"),
            *some("--copies", "2"), *some("--set", f"node.memory_bandwidth_bytes_per_s={chance.uniform(1e9, 1e12)}"),
            *some("--sweep", "node.cores=1,2,4"),
        ),
        "gemm": lambda: (*machine, *nodes, "--n", str(chance.randint(100, 100000)), *some("--no-overlap")),
        "pingpong": lambda: machine,
        "plan": lambda: (*machine, *nodes, *size, *some("--passes", "joined")),
        "project": lambda: (*machine, "--year", str(chance.randint(2005, 2040)), *some("--against", "gpu-2020")),
        "scaling": lambda: (
            "--serial", str(chance.random()), "--alpha", str(chance.random()),
            *some("--communication", "surface", "--kappa", str(chance.random()), "--lambda", str(chance.random())),
        ),
        "topology": lambda: (*machine, *nodes, "--bytes", str(chance.randint(1, 10**9))),
    }


class Explore(command.CommandTest):
    def write_page(self):
        self.run_well("explore", "--output", "page.html")
        return (self.folder / "page.html").read_text()

    def run_well(self, *arguments):
        result = self.run_alone(*arguments)
        self.assertEqual(result.status, 0, result.stderr)
        return result

    def test_the_page_is_small_and_names_no_other_file(self):
        page = self.write_page()
        self.assertLess(len(page), 3 << 20)
        self.assertTrue(page.startswith("<!doctype html>") and page.endswith("</html>\n"))
        markup = re.sub(r"<script>.*</script>", "", page, flags=re.DOTALL)
        self.assertNotRegex(markup, r"(src|href)=")
        self.assertNotRegex(markup, r"url\(|@import")

    def test_an_output_that_cannot_be_written_is_refused(self):
        result = self.run_alone("explore", "--output", "nowhere/page.html")
        self.assertEqual(result.status, 2)
        self.assertIn("nowhere/page.html", result.stderr)

    @unittest.skipUnless(shutil.which("chromium"), "needs Chromium")
    def test_the_page_answers_as_the_command_does(self):
        chance = random.Random(SEED)
        questions = []
        for _ in range(QUESTIONS):
            model = chance.choice("fft fft gemm pingpong plan project scaling topology".split())
            questions.append((model, *question(chance)[model]()))
        page = self.write_page().replace("</body>", ASKING.replace("QUESTIONS", json.dumps(questions)) + "</body>")
        (self.folder / "asked.html").write_text(page)
        shown = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000", "--dump-dom",
             f"--user-data-dir={self.folder / 'chromium'}", (self.folder / "asked.html").as_uri()],
            capture_output=True, text=True, timeout=300,
        ).stdout
        found = re.search(r'<pre id="answers">(.*?)</pre>', shown, re.DOTALL)
        self.assertTrue(found, shown[-2000:])
        answered = 0
        for asked, answer in zip(questions, json.loads(html.unescape(found[1])), strict=True):
            with self.subTest(seed=SEED, asked=asked):
                result = self.run_alone("model", *asked, "--json", "-")
                if result.status == 0:
                    answered += 1
                    self.assertEqual(answer, result.stdout)
                else:
                    self.assertEqual(f"penstock: {answer}\n", result.stderr)
        self.assertGreater(answered, QUESTIONS / 2)
        self.assertRegex(shown, r'<table id="numbers"><tr>')


if __name__ == "__main__":
    unittest.main()
