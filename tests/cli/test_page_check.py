#!/usr/bin/env python3
"""What every page has to stand is noticed where a page breaks it."""

import unittest

import page_check

GOOD = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>A page</title></head>
<body><main><h1>A page</h1><p>It says one thing.</p></main>ADDED</body></html>"""


class PageCheck(page_check.PageTest):
    def open_with(self, added):
        path = self.folder / "page.html"
        path.write_text(GOOD.replace("ADDED", added))
        return self.open(path, width=390)

    def test_a_good_page_stands_all(self):
        path = self.folder / "page.html"
        path.write_text(GOOD.replace("ADDED", ""))
        self.check_page(path, ready="document.querySelector('h1') !== null")

    def test_errors_of_scripts_and_the_console_are_noticed(self):
        page = self.open_with("<script>console.error('one'); missing.call()</script>")
        self.assertEqual(page.errors[0], "one")
        self.assertIn("missing is not defined", page.errors[1])

    def test_requests_are_noticed(self):
        page = self.open_with('<img alt="" src="other.png">'
                              '<script>fetch("http://127.0.0.1:9/").catch(() => {})</script>')
        self.assertEqual(sorted(address.rsplit(":", 1)[0] for address in page.requests)[-1], "http://127.0.0.1")
        self.assertTrue(any(address.endswith("other.png") for address in page.requests), page.requests)

    def test_what_is_wider_than_a_phone_is_noticed(self):
        page = self.open_with('<div style="width: 600px">wide</div>')
        self.assertGreater(page.overhang(), 100)

    def test_what_cannot_be_read_or_has_no_name_is_noticed(self):
        page = self.open_with('<p style="color: #ccc">faint</p><button></button>')
        found = page.hindrances()
        self.assertEqual(sorted(each.split("(")[1].split(")")[0] for each in found), ["button-name", "color-contrast"])

    def test_keys_reach_the_page(self):
        page = self.open_with("<button onclick=\"document.title = 'pressed'\">press</button>")
        page.press("Tab", "Enter")
        self.assertEqual(page.evaluate("document.title"), "pressed")


if __name__ == "__main__":
    unittest.main()
