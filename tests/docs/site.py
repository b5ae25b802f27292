# SPDX-License-Identifier: BSL-1.0
"""The site is made, its pages look right in a browser, and a document whose links lead nowhere is refused:
site.py FOLDER_OF_THE_SITE_S_SCRIPTS. Skipped, by 77, where what it is made with is missing; without a browser nobody
looks."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(sys.argv.pop(1))
NEEDED = ["pandoc", "doxygen", "gnuplot"]
SKIPPED = 77
PAGES = ["index", "guide", "protocol", "proof", "verification", "parts", "reshape", "functionalization", "python",
         "performance", "glossary", "changing", "api"]


def make(output, scripts=SCRIPTS):
    return subprocess.run([sys.executable, str(scripts / "build.py"), str(output)], capture_output=True, text=True,
                          check=False)


def looks(site, *pages):
    """By the Python that Debian's selenium is for."""
    return subprocess.run([str(SCRIPTS / "looks.py"), str(site), *map(str, pages)], capture_output=True, text=True,
                          check=False)


def copy_of_the_repository(folder):
    """What the site is made of, to be changed."""
    root = SCRIPTS.parent.parent
    ignored = shutil.ignore_patterns(".git", "build", "build-*", "subprojects", "__pycache__")
    shutil.copytree(root, folder, ignore=ignored)
    return pathlib.Path(folder)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = pathlib.Path(folder.name)
        cls.made = make(cls.site)

    def test_it_has_a_page_for_each_topic_and_every_api_header(self):
        self.assertEqual((self.made.returncode, self.made.stderr), (0, ""))
        for name in PAGES:
            self.assertTrue((self.site / f"{name}.html").is_file(), name)
        api = (self.site / "api.html").read_text()
        listed = (SCRIPTS.parent / "api.md").read_text().count("](../core/byre/")
        self.assertGreater(listed, 50)
        self.assertEqual(api.count('<a href="api/') - api.count('<a href="api/annotated'), listed)
        self.assertNotIn("<!--", api + (self.site / "verification.html").read_text())
        for plot, legend in [("operations", "copy-first"), ("pages", "in tiles of 64 KiB"),
                             ("functionalize", "the pass, by strides")]:
            self.assertIn(f">{legend}<", (self.site / f"{plot}.svg").read_text())

    def test_documents_and_some_pages_of_each_other_kind_look_right(self):
        pages = [*sorted(self.site.glob("*.html")), *sorted(self.site.glob("api/*.html"))[::20],
                 *sorted(self.site.glob("source/**/*.html"))[::20]]
        looked = looks(self.site, *(page.relative_to(self.site) for page in pages))
        if looked.returncode == SKIPPED:
            self.skipTest(looked.stderr)
        self.assertEqual((looked.returncode, looked.stdout), (0, f"{len(pages)} pages look right\n"))

    def test_links_and_anchors_that_lead_nowhere_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            root = copy_of_the_repository(pathlib.Path(folder, "byre"))
            with open(root / "docs/guide.md", "a") as guide:
                guide.write("\n[a link](nowhere.md) [another](costs.md#nowhere)\n")
            made = make(pathlib.Path(folder, "site"), root / "docs/site")
        self.assertEqual(made.returncode, 1, made.stdout)
        self.assertIn("docs/guide.md: links to nowhere.md, which is not there", made.stderr)
        self.assertIn("guide.html: links to costs.html#nowhere, and costs.html", made.stderr)

    def test_a_folder_of_something_else_is_left_as_it_is(self):
        with tempfile.TemporaryDirectory() as output:
            pathlib.Path(output, "letter").write_text("mine")
            made = make(output)
            self.assertEqual(made.returncode, 1)
            self.assertIn("is no folder of a site", made.stderr)
            self.assertEqual(pathlib.Path(output, "letter").read_text(), "mine")


if __name__ == "__main__":
    if missing := [tool for tool in NEEDED if not shutil.which(tool)]:
        print(f"skipped: there is no {' and no '.join(missing)}")
        sys.exit(SKIPPED)
    unittest.main()
