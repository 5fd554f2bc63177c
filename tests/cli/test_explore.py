#!/usr/bin/env python3
"""penstock explore: the page stands by itself, and its models give the numbers of `penstock model`, to the last digit.

PENSTOCK_TEST_QUESTIONS says how many random questions are asked (200); PENSTOCK_TEST_SEED repeats them.
"""

import csv
import io
import json
import os
import pathlib
import random
import re
import shlex
import signal
import socket
import subprocess
import unittest
import urllib.error
import urllib.request
import xml.etree.ElementTree

import command
import page_check

QUESTIONS = int(os.environ.get("PENSTOCK_TEST_QUESTIONS", "200"))
SEED = int(os.environ.get("PENSTOCK_TEST_SEED", "28"))
MACHINES = "bluegene-p default frontier fugaku gigabit-ethernet hector hopper infiniband-ddr".split()
# A question for each view.
VIEWS = {
    "fft": "model=fft&machines=infiniband-ddr,gigabit-ethernet&--size=512x512x512&--nodes=16",
    "gemm": "model=gemm&machines=frontier&--n=65536&--nodes=64",
    "pingpong": "model=pingpong&machines=infiniband-ddr&set.bytes=1024",
    "plan": "model=plan&machines=frontier&--size=256x256x256&--nodes=8",
    "project": "model=project&machines=cpu-2020&--against=gpu-2020",
    "scaling": "model=scaling&set.workers=64&--communication=blocking&--fit=1:1,2:1.9,4:3.4,8:5.6,12:6.2",
    "topology": "model=topology&machines=bluegene-p&--nodes=512",
}
SHOWN = "document.getElementById('page').innerText"
READY = "document.querySelector('#numbers td') && document.querySelector('#curves svg')"
FRAME_S = 1 / 60
# Moves a slider in every frame, from end to end, as fast as a hand can.
DRAGGING = """(async () => {
  const slider = document.getElementById("SLIDER");
  for (let i = 0; i < FRAMES; i += 1) {
    await new Promise(requestAnimationFrame);
    const places = (slider.max - slider.min) / slider.step + 1;
    slider.value = Number(slider.min) + (i % places) * Number(slider.step);
    slider.dispatchEvent(new Event("input"));
  }
})()"""
# Keeps the texts of the files that the page hands out.
CATCHING = """(() => {
  window.files = [];
  const create = URL.createObjectURL;
  URL.createObjectURL = (blob) => { window.files.push(blob.text()); return create.call(URL, blob); };
})()"""


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


class Explore(page_check.PageTest):
    def run_well(self, *arguments):
        result = self.run_alone(*arguments)
        self.assertEqual(result.status, 0, result.stderr)
        return result

    def write_page(self):
        path = self.folder / "page.html"
        if not path.exists():
            self.run_well("explore", "--output", path.name)
        return path

    def ask(self, question, **options):
        """The page, opened with a question in its address, when it has answered."""
        self.write_page()
        page = self.open((self.folder / "page.html").as_uri() + f"#{question}", **options)
        page.wait_for(READY)
        self.wait_until_still(page)
        return page

    def wait_until_still(self, page):
        """Waits until the page has answered, and the address with it."""
        page.evaluate("new Promise((done) => setTimeout(done, 250))")
        page.wait_for("document.getElementById('page').getAttribute('aria-busy') === 'false'")

    def csv_of(self, page, button):
        """The rows of the file that a button gives."""
        page.evaluate(f"{CATCHING}; document.querySelector({json.dumps(button)}).click()")
        return list(csv.reader(io.StringIO(page.evaluate("Promise.all(window.files)")[0])))

    def numbers_of(self, page):
        """The numbers of each machine by their keys, as the page's CSV has them."""
        head, *rows = self.csv_of(page, "#save-numbers")
        return [{key: values[i] for key, *values in rows} for i in range(len(head) - 1)]

    def answers_in_terminal(self, page):
        """What the page's own command lines give, those before the curves' and those of the curves."""
        points, _, curves = page.evaluate("document.getElementById('command').textContent").partition("# the curves\n")
        return [
            [json.loads(self.run_well(*shlex.split(line)[1:], "--json", "-").stdout) for line in lines.splitlines()]
            for lines in (points, curves)
        ]

    def assert_same(self, shown, value):
        """A number in CSV has all digits."""
        if isinstance(value, str):
            self.assertEqual(shown, value)
        elif value is None:
            self.assertEqual(shown, "")
        else:
            self.assertEqual(float(shown), value)

    def test_the_page_is_small_and_names_no_other_file(self):
        page = self.write_page().read_text()
        self.assertLess(len(page), 3 << 20)
        self.assertTrue(page.startswith("<!doctype html>") and page.endswith("</html>\n"))
        markup = re.sub(r"<script>.*</script>", "", page, flags=re.DOTALL)
        self.assertNotRegex(markup, r'(src|href)="(?!data:)')
        self.assertNotRegex(markup, r"url\(|@import")

    def test_an_output_that_cannot_be_written_is_refused(self):
        result = self.run_alone("explore", "--output", "nowhere/page.html")
        self.assertEqual(result.status, 2)
        self.assertIn("nowhere/page.html", result.stderr)

    def test_the_page_answers_as_the_command_does(self):
        chance = random.Random(SEED)
        questions = []
        for _ in range(QUESTIONS):
            model = chance.choice("fft fft gemm pingpong plan project scaling topology".split())
            questions.append((model, *question(chance)[model]()))
        page = self.ask("")
        answers = page.evaluate(
            f"Promise.all({json.dumps(questions)}.map(([model, ...words]) => "
            "window.penstock.ask(model, words).then(({ json }) => json, ({ message }) => message)))"
        )
        answered = 0
        for asked, answer in zip(questions, answers, strict=True):
            with self.subTest(seed=SEED, asked=asked):
                result = self.run_alone("model", *asked, "--json", "-")
                if result.status == 0:
                    answered += 1
                    self.assertEqual(answer, result.stdout)
                else:
                    self.assertEqual(f"penstock: {answer}\n", result.stderr)
        self.assertGreater(answered, QUESTIONS / 2)

    def test_every_view_stands_what_pages_have_to_stand(self):
        self.write_page()
        for name, asked in VIEWS.items():
            windows = page_check.WINDOWS if name == "fft" else ((1280, "light"), (390, "dark"))
            self.check_page((self.folder / "page.html").as_uri() + f"#{asked}", ready=READY, name=name, windows=windows)

    def test_every_view_shows_and_saves_the_numbers_of_its_commands(self):
        for name, asked in VIEWS.items():
            with self.subTest(view=name):
                page = self.ask(asked)
                points, curves = self.answers_in_terminal(page)
                machines = self.numbers_of(page)
                for shown, answer in zip(machines, points[: len(machines)], strict=True):
                    for key, value in shown.items():
                        self.assert_same(value, answer["points"][0][key])
                head, *rows = self.csv_of(page, '#curves button[aria-label^="CSV"]')
                rows = [row for row in rows if row[1] != ""]  # without measured points
                self.assertEqual([float(row[0]) for row in rows], [each[head[0]] for each in curves[0]["points"]])
                for row, each in zip(rows, curves[0]["points"], strict=True):
                    self.assertIn(float(row[1]), [value for value in each.values() if isinstance(value, (int, float))])

    def test_every_figure_is_saved_as_a_drawing_and_as_numbers(self):
        for name, asked in VIEWS.items():
            with self.subTest(view=name):
                page = self.ask(asked)
                figures = "document.querySelectorAll('figure:not([hidden])')"
                page.evaluate(CATCHING)
                page.evaluate(f"{figures}.forEach((each) => each.querySelectorAll('button').forEach((one) => one.click()))")
                count = page.evaluate(f"{figures}.length")
                files = page.evaluate("Promise.all(window.files)")
                self.assertEqual(len(files), 2 * count)
                for svg, table in zip(files[::2], files[1::2], strict=True):
                    drawing = xml.etree.ElementTree.fromstring(svg)
                    self.assertEqual(drawing.tag, "{http://www.w3.org/2000/svg}svg")
                    self.assertGreater(len(list(drawing.iter())), 3)
                    self.assertGreater(len(list(csv.reader(io.StringIO(table)))), 1)

    def test_the_examples_have_answers(self):
        for model in VIEWS:
            page = self.ask(f"model={model}&machines=frontier")
            links = page.evaluate("Array.from(document.querySelectorAll('#examples a'), (link) => link.hash)")
            self.assertGreater(len(links), 0)
            for link in links:
                with self.subTest(example=link):
                    page.evaluate(f"location.hash = {json.dumps(link)}")
                    self.wait_until_still(page)
                    self.assertEqual(page.evaluate("document.getElementById('error').textContent"), "")
                    self.assertTrue(page.evaluate(READY.replace(" && ", " !== null && ") + " !== null"))

    def test_a_copied_address_shows_the_same(self):
        machine = command.MACHINE.read_text().replace("2 cores of a Zen 4 server", "a machine of mine")
        (self.folder / "mine.toml").write_text(machine)
        page = self.ask("model=plan&machines=frontier&--nodes=1")
        page.choose_file("#file", self.folder / "mine.toml")
        page.wait_for("document.getElementById('machine').value === 'mine.toml'")
        page.enter("swept", "threads", "change")
        page.enter("field--passes", "joined", "change")
        page.enter("field-threads", "2")
        page.enter("field-node.memory_bandwidth_bytes_per_s", "5e10")
        page.enter("range", "1,2,4")
        self.wait_until_still(page)
        page.enter("shown", "rate_flops", "change")
        self.wait_until_still(page)
        address = page.evaluate("location.href")
        again = self.open(address)
        again.wait_for(READY)
        self.wait_until_still(again)
        self.assertIn("a machine of mine", again.evaluate("document.getElementById('machine').textContent"))
        self.assertEqual(again.evaluate(SHOWN), page.evaluate(SHOWN))
        points, curves = self.answers_in_terminal(again)
        self.assertIn("Rate over threads", again.evaluate(SHOWN))
        self.assertEqual(float(self.numbers_of(again)[0]["time_s"]), points[0]["points"][0]["time_s"])
        self.assertEqual(points[0]["machine"], "a machine of mine")

    def test_sliders_that_would_do_nothing_are_not_shown(self):
        sliders = "Array.from(document.querySelectorAll('#options input[type=range]'))"
        shown = f"{sliders}.filter((each) => each.checkVisibility()).map((each) => each.id)"
        self.assertEqual(self.ask("model=gemm&machines=htmt-2007&--way=htmt").evaluate(shown), [])
        page = self.ask("model=scaling&set.workers=64")
        self.assertEqual(page.evaluate(shown), ["slider-serial", "slider-alpha"])
        page.enter("field--communication", "blocking", "change")
        self.wait_until_still(page)
        self.assertEqual(page.evaluate(shown), ["slider-serial", "slider-alpha", "slider-kappa", "slider-lambda"])

    def test_what_is_copied_is_said(self):
        page = self.ask("")
        page.evaluate("""window.copied = "";
            Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { copied = text; } } });
            document.getElementById("copy-address").click()""")
        page.wait_for("document.getElementById('copied').textContent === 'The link is copied.'")
        self.assertEqual(page.evaluate("copied"), page.evaluate("location.href"))
        self.assertIn("machines=gigabit-ethernet", page.evaluate("copied"))

    def test_a_question_without_an_answer_says_why(self):
        page = self.ask("model=fft&machines=gigabit-ethernet&--nodes=4")
        page.enter("field-nodes", "many")
        page.wait_for("document.getElementById('error').textContent !== ''")
        self.assertIn("--nodes", page.evaluate("document.getElementById('error').textContent"))
        self.assertEqual(page.errors, [])

    def test_a_file_that_is_no_machine_is_refused_in_words(self):
        (self.folder / "wrong.toml").write_text("name = 3\n")
        page = self.ask("")
        page.choose_file("#file", self.folder / "wrong.toml")
        page.wait_for("document.getElementById('error').textContent.includes('wrong.toml')")
        self.assertEqual(page.errors, [])

    def test_measured_speedups_are_fitted_by_the_model(self):
        page = self.ask("model=scaling&set.workers=64&--communication=blocking")
        text = "workers,speedup\n1,1\n2,1.9\n4,3.4\n8,5.6\n12,6.2\n"
        page.enter("measured", text)
        page.wait_for("!document.getElementById('fitted').hidden")
        self.wait_until_still(page)
        fit = self.answers_in_terminal(page)[0][1]
        rows = {row[0]: row[1:] for row in self.csv_of(page, "#save-fit")}
        self.assertEqual([float(each) for each in rows["serial"]], list(fit["serial"].values()))
        self.assertEqual([float(each) for each in rows["kappa plus lambda"]], list(fit["kappa_plus_lambda"].values()))
        head = self.csv_of(page, '#curves button[aria-label^="CSV"]')[0]
        self.assertEqual(head, ["workers", "speedup", "fitted", "measured"])
        page.evaluate("document.getElementById('take-fit').click()")
        self.wait_until_still(page)
        self.assertEqual(float(page.evaluate("document.getElementById('field-serial').value")), fit["serial"]["value"])

    def test_figure_5_is_that_of_the_model(self):
        page = self.ask(VIEWS["project"])
        lanes = self.answers_in_terminal(page)[0][1]["lanes"]
        rows = self.csv_of(page, '#lanes button[aria-label^="CSV"]')[1:]
        self.assertEqual([[float(each) for each in row[1:]] for row in rows],
                         [[lane["memory_s"], lane["network_s"]] for lane in lanes])

    def test_the_links_that_are_cut_are_those_of_the_bisection(self):
        for machine, nodes in (("gigabit-ethernet", 8), ("bluegene-p", 8), ("hopper", 27), ("hector-xt4", 24)):
            asked = f"machines={machine}&--nodes={nodes}"
            with self.subTest(asked=asked):
                page = self.ask(f"model=topology&{asked}")
                numbers = self.numbers_of(page)[0]
                cut = page.evaluate("document.querySelectorAll('#topology .link.cut').length")
                # A link that goes around is drawn as two ends.
                ends = page.evaluate("document.querySelectorAll('#topology .link.end').length")
                self.assertEqual(cut - ends / 2, float(numbers["bisection_links"]))

    def test_the_keyboard_moves_a_slider_and_the_numbers(self):
        page = self.ask("model=fft&machines=gigabit-ethernet&--size=128x128x128&--nodes=4")
        before = self.numbers_of(page)[0]
        page.evaluate("document.getElementById('slider-nodes').focus()")
        page.press("ArrowRight")
        self.wait_until_still(page)
        self.assertEqual((before["nodes"], self.numbers_of(page)[0]["nodes"]), ("4", "8"))

    def test_an_answer_with_its_gains_is_there_within_a_frame(self):
        # The fastest of many: what it takes where no other program of the machine is in the way.
        page = self.ask("")
        for name, asked in VIEWS.items():
            options = [each.split("=", 1) for each in asked.split("&") if each.startswith("--")]
            words = ["--machine", "frontier"] * (name != "scaling") + [word for option in options for word in option]
            seconds = page.evaluate(f"""(async () => {{
                const times = [];
                for (let i = 0; i < 20; i += 1) {{
                    const start = performance.now();
                    await window.penstock.ask({json.dumps(name)}, {json.dumps(words)});
                    times.push(performance.now() - start);
                }}
                return Math.min(...times) / 1000;
            }})()""")
            with self.subTest(view=name):
                self.assertLess(seconds, FRAME_S)

    def test_a_dragged_slider_leaves_time_in_every_frame(self):
        # Processor time of the page's thread: other programs of the machine have no part in it.
        frames = 60
        dragged = (VIEWS["fft"], "nodes"), ("model=gemm&machines=fugaku", "nodes"), (VIEWS["project"], "year")
        for asked, slider in dragged:
            with self.subTest(asked=asked):
                page = self.ask(asked)
                before = page.processor_s()
                page.evaluate(DRAGGING.replace("SLIDER", f"slider-{slider}").replace("FRAMES", str(frames)))
                self.assertLess((page.processor_s() - before) / frames, FRAME_S)
                self.assertEqual(page.errors, [])


class Serve(page_check.PageTest):
    def serve(self, *arguments):
        """A server that has said where it is: the process, and its address."""
        process = subprocess.Popen(
            [command.COMMAND, "explore", "--serve", *arguments], cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        address = process.stdout.readline().strip()
        self.assertIn("Ctrl-C ends", process.stdout.readline())
        return process, address

    def test_the_page_is_served_to_this_computer_alone_and_ends_with_ctrl_c(self):
        process, address = self.serve()
        port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", address)[1])
        with urllib.request.urlopen(address, timeout=60) as answer:
            self.assertEqual(answer.headers["Content-Type"], "text/html; charset=utf-8")
            served = answer.read()
        self.run_alone("explore", "--output", "page.html")
        self.assertEqual(served, (self.folder / "page.html").read_bytes())
        listening = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        own = [line[1] for line in listening if line[1].endswith(f":{port:04X}") and line[3] == "0A"]
        self.assertEqual(own, [f"0100007F:{port:04X}"])
        page = self.open(address)
        page.wait_for(READY)
        self.assertEqual((page.errors, page.requests), ([], []))
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual((process.returncode, stderr), (-signal.SIGINT, "penstock: interrupted by SIGINT\n"))
        self.assertEqual(self.left_behind(), ["page.html"])

    def test_nothing_else_is_served(self):
        _, address = self.serve()
        for path in ("index.html", "../etc/passwd", "favicon.ico"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(address + path, timeout=60)
            self.assertEqual(refused.exception.code, 404)
            refused.exception.close()

    def test_a_port_in_use_is_refused_in_one_line(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            result = self.run_alone("explore", "--serve", "--port", port)
        self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)
        self.assertIn(f"--port {port}: it cannot be had", result.lines[0])
        # Also one that another of these servers has.
        _, address = self.serve()
        port = address.split(":")[2].strip("/")
        result = self.run_alone("explore", "--serve", "--port", port)
        self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)

    def test_what_does_not_go_together_is_refused(self):
        for options in ("--port 8080", "--serve --output page.html", "--serve --json -", "--serve --port 70000"):
            result = self.run_alone("explore", *options.split())
            self.assertEqual((result.status, len(result.lines)), (2, 1), result.stderr)


if __name__ == "__main__":
    unittest.main()
