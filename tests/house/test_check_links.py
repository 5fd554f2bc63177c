#!/usr/bin/env python3
"""check_links.py finds links to files and headings that there are not, and no others."""

import pathlib
import tempfile
import unittest

import check_links


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "docs").mkdir()
        (self.folder / "docs/there.md").write_text("# A heading, `code`\n\n## Again\n\n## Again\n")

    def broken(self, text):
        (self.folder / "README.md").write_text(text)
        return check_links.broken_links(self.folder)

    def test_links_that_lead_somewhere_are_none(self):
        self.assertEqual(self.broken("# Top\n[a](docs/there.md) [b](docs/there.md#a-heading-code) [c](#top) [d](docs)\n"
                                     "[e](docs/there.md#again-1) [f](https://example.org/nowhere)\n"
                                     "`[g](nowhere.md)`\n\n    [h](nowhere.md)\n\n```\n[i](nowhere.md)\n```\n"), [])

    def test_files_and_headings_that_there_are_not_are_found(self):
        for target in ("docs/nowhere.md", "docs/there.md#nothing", "#nothing", "docs/there.md#again-2"):
            self.assertEqual(len(self.broken(f"# Top\n[a]({target})\n")), 1, target)


if __name__ == "__main__":
    unittest.main()
