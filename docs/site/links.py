#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What is wrong with the links of a site that build.py made: pages and anchors that are not there, and figures, bold in a
link, that the page they link to does not have."""

import argparse
import html.parser
import os
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """A page's anchors, links, text, and what stands bold in a link."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.twice, self.links, self.figures, self.words = set(), set(), [], [], []
        self._inside, self._figure = [], []
        self.feed(path.read_text(encoding="utf-8"))
        self.text = " ".join("".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        names = {attributes.get("id"), attributes.get("name") if tag == "a" else None} - {None}
        self.twice |= names & self.anchors
        self.anchors |= names
        for kind in ("href", "src"):
            if attributes.get(kind) is not None:
                self.links.append(attributes[kind])
        if tag in ("a", "strong"):
            self._inside.append(tag)

    def handle_endtag(self, tag):
        if tag in self._inside:
            self._inside.remove(tag)
        if tag == "strong" and "a" in self._inside:
            self.figures.append(("".join(self._figure), self.links[-1]))
            self._figure = []

    def handle_data(self, data):
        self.words.append(data)
        if {"a", "strong"} <= set(self._inside):
            self._figure.append(data)


class Site:
    def __init__(self, folder):
        self.folder = folder
        self.pages = {path.relative_to(folder).as_posix(): Page(path) for path in sorted(folder.rglob("*.html"))}

    def target(self, page, link):
        """The file of the site that a link leads to, and the anchor there. None if it leads elsewhere."""
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            return None
        path = urllib.parse.unquote(parts.path)
        name = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        return name, urllib.parse.unquote(parts.fragment)

    def complaints(self):
        for name, page in self.pages.items():
            for anchor in sorted(page.twice):
                yield f"{name}: has the anchor '{anchor}' twice"
            for link in page.links:
                found = self.target(name, link)
                if found is None:
                    continue
                target, anchor = found
                if not (self.folder / target).is_file():
                    yield f"{name}: links to {link}, which is not there"
                elif anchor and anchor not in self.pages[target].anchors:
                    yield f"{name}: links to {link}, and {target} has no such anchor"
            yield from self.figures_not_there(name, page)

    def figures_not_there(self, name, page):
        if name == "index.html" and not page.figures:
            yield f"{name}: has no figure with its source"
        for figure, link in page.figures:
            found = self.target(name, link)
            target = self.pages.get(found[0]) if found else None
            if target and figure not in target.text:
                yield f"{name}: says '{figure}', and {link} does not"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=pathlib.Path, help="the folder of the site")
    folder = parser.parse_args().site
    if not (folder / "index.html").is_file():
        print(f"links: there is no site in {folder}", file=sys.stderr)
        return 1
    site = Site(folder)
    complaints = list(site.complaints())
    print("\n".join(complaints) or f"{sum(len(page.links) for page in site.pages.values())} links of "
          f"{len(site.pages)} pages")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
