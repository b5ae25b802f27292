# SPDX-License-Identifier: BSL-1.0
"""The checker of links finds what it looks for: links_test.py FOLDER_OF_THE_SITE_S_SCRIPTS"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))
import links  # noqa: E402

GOOD = {
    "index.html": '<p><a href="costs.html#a"><strong>17 us</strong></a> <a href="source/x.cpp.html">x</a></p>',
    "costs.html": '<h2 id="a">A page</h2><p>takes 17\nus. <a href="#a">a</a> <a href="https://b.org/x#y">b</a></p>',
    "source/x.cpp.html": '<a href="../costs.html">costs</a> <img src="../plot.svg" alt="">',
    "plot.svg": "<svg/>",
}


def complaints(**changes):
    """Of the good site, with pages that are other than that: their names without an end."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in GOOD.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(changes.get(name.split(".")[0], text))
        return list(links.Site(pathlib.Path(folder)).complaints())


class Links(unittest.TestCase):
    def test_a_site_whose_links_lead_somewhere_passes(self):
        self.assertEqual(complaints(), [])

    def test_a_page_that_is_not_there_is_found(self):
        self.assertEqual(complaints(costs=GOOD["costs.html"] + '<a href="cost.html">c</a>'),
                         ["costs.html: links to cost.html, which is not there"])

    def test_an_anchor_that_is_not_there_is_found(self):
        self.assertEqual(complaints(costs=GOOD["costs.html"] + '<a href="#b">b</a>'),
                         ["costs.html: links to #b, and costs.html has no such anchor"])

    def test_a_picture_that_is_not_there_is_found(self):
        self.assertEqual(complaints(costs=GOOD["costs.html"] + '<img src="other.svg">'),
                         ["costs.html: links to other.svg, which is not there"])

    def test_an_anchor_that_is_there_twice_is_found(self):
        self.assertEqual(complaints(costs=GOOD["costs.html"] + '<h2 id="a">B</h2>'),
                         ["costs.html: has the anchor 'a' twice"])

    def test_a_figure_that_its_page_does_not_have_is_found(self):
        self.assertEqual(complaints(index='<a href="costs.html#a"><strong>18 us</strong></a>'),
                         ["index.html: says '18 us', and costs.html#a does not"])

    def test_a_first_page_without_figures_is_found(self):
        self.assertEqual(complaints(index="<p>fast</p>"), ["index.html: has no figure with its source"])


if __name__ == "__main__":
    unittest.main()
