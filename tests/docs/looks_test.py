# SPDX-License-Identifier: BSL-1.0
"""Pages that do not look right in a browser are found: looks_test.py FOLDER_OF_THE_SITE_S_SCRIPTS. Skipped, by 77,
where there is no browser."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(sys.argv.pop(1))
SKIPPED = 77


def look(site):
    # By the Python that Debian's selenium is for.
    return subprocess.run([str(SCRIPTS / "looks.py"), str(site)], capture_output=True, text=True, check=False)


class Looks(unittest.TestCase):
    def of(self, body):
        with tempfile.TemporaryDirectory() as site:
            pathlib.Path(site, "page.html").write_text(f"<!DOCTYPE html><body style='margin: 0'>{body}")
            looked = look(site)
        self.assertIn(looked.returncode, (0, 1), looked.stderr)
        return looked.stdout

    def test_a_page_wider_than_the_window_is_found(self):
        said = self.of("<p style='width: 600px'>wide</p>")
        self.assertIn("page.html, 400 pixels, dark: is 600 pixels wide", said)
        self.assertNotIn("1280", said)

    def test_what_is_wide_in_a_box_that_scrolls_is_right(self):
        said = self.of("<div style='overflow-x: auto'><p style='width: 600px'>wide</p></div>")
        self.assertEqual(said, "1 pages look right\n")

    def test_what_is_cut_off_is_found(self):
        said = self.of("<div style='overflow: hidden'><p style='width: 600px'>wide</p></div>")
        self.assertIn('page.html, 400 pixels, light: cuts off p "wide", from 0 to 600', said)

    def test_text_of_little_contrast_is_found(self):
        said = self.of("<style>@media (prefers-color-scheme: dark) {p {color: #999}}</style><p>pale</p>")
        self.assertIn('400 pixels, dark: has p "pale" with a contrast of 2.85', said)
        self.assertNotIn("light", said)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "page.html").write_text("<!DOCTYPE html><p>a page")
        if (looked := look(folder)).returncode == SKIPPED:
            print(looked.stderr)
            sys.exit(SKIPPED)
    unittest.main()
