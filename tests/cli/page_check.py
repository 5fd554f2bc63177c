"""Pages in headless Chromium, as readers open them: what they say, ask of the network, look like, and hinder.

A test opens a page and asks it in JavaScript:

    class Report(page_check.PageTest):
        def test_the_report_opens(self):
            page = self.open(self.folder / "report.html")
            self.assertEqual(page.evaluate("document.title"), "Penstock")

`check_page` is what every page has to stand. Chromium is driven by its DevTools protocol over a pipe, in real time.
PENSTOCK_NPM_FOLDER is where axe-core, which npm brings, is kept; PENSTOCK_PICTURES a folder for pictures of what
`check_page` has opened.
"""

import base64
import fcntl
import functools
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time
import unittest

import command

PACKAGES = pathlib.Path(__file__).parent / "pages"
WINDOWS = tuple((width, shade) for width in (1280, 390) for shade in ("light", "dark"))
# A page asks for itself, for nothing else.
OWN_SCHEMES = ("data:", "blob:", "about:")


@functools.cache
def axe():
    """The script axe-core, installed by npm where it is not yet; skips the test where it cannot be had."""
    folder = pathlib.Path(os.environ["PENSTOCK_NPM_FOLDER"])
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run side by side
        for name in ("package.json", "package-lock.json"):
            text = (PACKAGES / name).read_text()
            if not (folder / name).exists() or (folder / name).read_text() != text:
                script.unlink(missing_ok=True)
                (folder / name).write_text(text)
        if not script.exists():
            if shutil.which("npm") is None:
                raise unittest.SkipTest("axe-core is not installed, and there is no npm to bring it")
            line = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0"]
            try:
                installed = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
            except subprocess.TimeoutExpired:
                raise unittest.SkipTest("axe-core is not installed, and npm's registry does not answer") from None
            if not script.exists():
                reason = installed.stderr.splitlines()[0]
                raise unittest.SkipTest(f"axe-core is not installed, and npm cannot: {reason}")
    return script.read_text()


class Browser:
    """A headless Chromium with a profile of its own."""

    def __init__(self, folder):
        self._folder = folder
        line = [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
            "--no-first-run", "--disable-background-networking", f"--user-data-dir={folder}", "about:blank",
        ]
        # Chromium reads commands from file 3 and answers on file 4.
        self._process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" 3<&0 4>&1 0</dev/null 1>/dev/null', "sh", *line],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
        )
        self._received = b""
        self._last = 0
        self._pages = {}

    def close(self):
        try:
            self.call("Browser.close")
            self._process.wait(timeout=10)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def _message(self, deadline):
        while b"\0" not in self._received:
            if not select.select([self._process.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("Chromium does not answer")
            got = os.read(self._process.stdout.fileno(), 1 << 20)
            if not got:
                raise EOFError("Chromium has ended")
            self._received += got
        message, self._received = self._received.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, limit_s=60, **parameters):
        """What a method of the DevTools protocol gives; meanwhile events go to their pages."""
        self._last += 1
        request = {"id": self._last, "method": method, "params": parameters}
        if session is not None:
            request["sessionId"] = session
        self._process.stdin.write(json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + limit_s
        while True:
            message = self._message(deadline)
            if message.get("id") == self._last:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            page = self._pages.get(message.get("sessionId"))
            if page is not None:
                page._take(message["method"], message["params"])

    def open(self, address, width=1280, height=900, is_dark=False):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session, target, address)
        page._load(width, height, is_dark)
        return page


class Page:
    """A page that is open. `errors` are the console's, `requests` the addresses of others that it has asked for."""

    def __init__(self, browser, session, target, address):
        self._browser = browser
        self._session = session
        self._target = target
        self._address = address
        self._is_loaded = False
        self.errors = []
        self.requests = []

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def _load(self, width, height, is_dark):
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.set_dark(is_dark)
        self.call("Page.navigate", url=self._address)
        deadline = time.monotonic() + 60
        while not self._is_loaded:
            self._browser.call("Browser.getVersion")  # events come with answers
            time.sleep(0.01)
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self._address} does not load")

    def _take(self, method, event):
        if method == "Page.loadEventFired":
            self._is_loaded = True
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(each.get("value", each.get("description"))) for each in event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.errors.append(event["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            address = event["request"]["url"]
            if address.split("#")[0] != self._address.split("#")[0] and not address.startswith(OWN_SCHEMES):
                self.requests.append(address)

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)

    def resize(self, width, height):
        self._width = width
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)

    def set_dark(self, is_dark):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def evaluate(self, script):
        """What an expression gives, of a promise what it resolves to; raises RuntimeError where the page throws."""
        given = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True,
                          userGesture=True)
        if "exceptionDetails" in given:
            details = given["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return given["result"].get("value")

    def wait_for(self, condition, limit_s=60):
        """Waits until an expression is true."""
        deadline = time.monotonic() + limit_s
        while not self.evaluate(f"Boolean({condition})"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self._address}: still not {condition}")
            time.sleep(0.02)

    def enter(self, field, text, event="input"):
        """As if the reader had entered a text into the field with that id; lists and boxes hear of it by "change"."""
        self.evaluate(f"""{{
            const field = document.getElementById({json.dumps(field)});
            field.value = {json.dumps(text)};
            field.dispatchEvent(new Event({json.dumps(event)}));
        }}""")

    def press(self, *keys):
        """Presses keys one after another: "Tab", "Enter", "ArrowRight", " " and their like."""
        for key in keys:
            text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
            code = {"Tab": 9, "Enter": 13, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                    "ArrowDown": 40}.get(key, 0)
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def choose_file(self, selector, path):
        """As if the reader had chosen a file for a field of that kind."""
        found = self.call("Runtime.evaluate", expression=f"document.querySelector({json.dumps(selector)})")
        self.call("DOM.setFileInputFiles", files=[str(path)], objectId=found["result"]["objectId"])

    def take_picture(self, path, is_whole=True):
        """The page as PNG: all of it, or what is in the window."""
        got = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=is_whole)
        pathlib.Path(path).write_bytes(base64.b64decode(got["data"]))

    def hindrances(self):
        """What axe-core finds serious or critical: a line for each rule, with the elements that break it."""
        self.evaluate(axe() + "; 1")
        found = self.evaluate("""axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
            violations.map(({ id, impact, help, nodes }) => ({ id, impact, help,
                nodes: nodes.map((node) => `${node.html.slice(0, 120)}: ${node.failureSummary}`) })))""")
        return [f"{each['impact']}: {each['help']} ({each['id']}): " + "; ".join(each["nodes"][:5])
                for each in found if each["impact"] in ("serious", "critical")]

    def processor_s(self):
        """The time that a processor has worked for the page's thread, since any moment; others have no part in it."""
        self.call("Performance.enable", timeDomain="threadTicks")
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(each["value"] for each in metrics if each["name"] == "TaskDuration")

    def overhang(self):
        """The pixels by which the page is wider than its window, on a phone the worst of faults."""
        return self.evaluate("document.documentElement.scrollWidth") - self._width


@unittest.skipUnless(shutil.which("chromium"), "needs Chromium")
class PageTest(command.CommandTest):
    """Tests that open pages; the browser starts with the first page and ends with the test."""

    _browser = None

    def open(self, page, **options):
        """Opens a file's path or an address: `width`, `height` and `is_dark` are the window's."""
        if self._browser is None:
            folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
            self.addCleanup(folder.cleanup)
            self._browser = Browser(folder.name)
            self.addCleanup(self._browser.close)
        return self._browser.open(page.as_uri() if isinstance(page, pathlib.Path) else page, **options)

    def check_page(self, page, ready="true", name="page", windows=WINDOWS):
        """Light and dark, on a screen and a phone: no error, no request, nothing too wide, no serious hindrance.

        `ready` is an expression that is true when the page is complete; `name` tells its pictures apart.
        """
        for width, shade in windows:
            with self.subTest(page=name, width=width, shade=shade):
                opened = self.open(page, width=width, is_dark=shade == "dark")
                opened.wait_for(ready)
                if "PENSTOCK_PICTURES" in os.environ:
                    opened.take_picture(pathlib.Path(os.environ["PENSTOCK_PICTURES"]) / f"{name}-{width}-{shade}.png")
                self.assertEqual(opened.errors, [])
                self.assertEqual(opened.requests, [])
                self.assertLessEqual(opened.overhang(), 0)
                self.assertEqual(opened.hindrances(), [])
                opened.close()
