#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Makes the site: every document that the navigation has, what these link to in the repository, the pages of the
API headers, and the plots. A link to what is not there fails."""

import argparse
import html
import os
import pathlib
import shutil
import string
import sys
import webbrowser

import api
import figures
import links
from navigation import NAVIGATION
from pandoc import Document, Failure, run

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# By the end of a file's name, what pandoc calls its language.
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".sh": "bash", ".json": "json"}


def flat(groups):
    """The navigation's documents, each as (document, title, whether it goes with the one before)."""
    for _, entries in groups:
        for document, title, *below in entries:
            yield document, title, False
            for part in below:
                yield from ((path, name, True) for path, name in part)


def page_of(document):
    """The page of a Markdown document: by its name alone where it is among the documents."""
    path = pathlib.PurePosixPath(document)
    if path.suffix == ".html":
        return document
    if document == "docs/site/index.md":
        return "index.html"
    if path.parent in (pathlib.PurePosixPath("docs"), pathlib.PurePosixPath(".")):
        return path.stem.lower() + ".html"
    return "-".join([*path.parts[:-1], path.stem.lower()]) + ".html"


class Site:
    def __init__(self, output):
        self.output = output
        self.template = string.Template((HERE / "page.html").read_text())
        self.version = (ROOT / "VERSION").read_text().strip()
        self.complaints = []
        self.api = {}
        self.listed = [entry for entry in flat(NAVIGATION)
                       if entry[0].endswith(".html") or (ROOT / entry[0]).is_file()]
        self.left = [document for document, _, _ in self.listed if document.endswith(".md")]
        self.left += sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))
        self.begun = set()

    def build(self):
        shutil.copy(HERE / "style.css", self.output)
        self.api = api.build(ROOT, self.output, self.frame("$title", "@body@", "api.html", "../", "api"))
        while self.left:
            path = self.left.pop(0)
            if path not in self.begun:
                self.begun.add(path)
                self.write(path)
        shutil.rmtree(self.output / "work")
        if complaints := self.complaints + list(links.Site(self.output).complaints()):
            raise Failure("\n".join(complaints))

    def write(self, path):
        if path.endswith(".md"):
            self.write_document(path)
        elif (ROOT / path).is_dir():
            self.write_folder(path)
        else:
            self.write_source(path)

    def write_document(self, path):
        page = page_of(path)
        document = Document((ROOT / path).read_text(), lambda target: self.resolve(path, page, target),
                            self.header_named, figures.Generator(ROOT, self.output).generate)
        self.save(page, document.title or path, document.html(), "document", page, document.sections)

    def write_source(self, path):
        language = LANGUAGES.get(pathlib.PurePath(path).suffix, "")
        text = (ROOT / path).read_text()
        fence = "`" * 12
        code = run(["-f", "gfm", "-t", "html5"], f"{fence}{language}\n{text}\n{fence}\n")
        self.save(self.target_page(path), path, f"<h1><code>{html.escape(path)}</code></h1>\n{code}", "source")

    def write_folder(self, path):
        page = self.target_page(path)
        rows = []
        for entry in sorted((ROOT / path).iterdir()):
            if entry.name != "__pycache__":
                rows.append(f'<li><a href="{self.resolve(path + "/.", page, entry.name)[0]}">'
                            f"<code>{html.escape(entry.name)}</code></a></li>")
        self.save(page, path, f"<h1><code>{html.escape(path)}</code></h1>\n<ul>\n" + "\n".join(rows) + "\n</ul>",
                  "folder")

    def target_page(self, path):
        """The page for a path of the repository."""
        if path in self.api:
            return self.api[path]
        if path.endswith(".md"):
            return page_of(path)
        if (ROOT / path).is_dir():
            return f"source/{path}/index.html"
        return f"source/{path}.html"

    def resolve(self, document, page, target):
        """A link of a document, as its page has to have it, and what the navigation calls its target, or None."""
        if target.startswith(("#", "http://", "https://", "mailto:")):
            return target, None
        name, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(document), name))
        if path.startswith("..") or not (ROOT / path).exists():
            self.complaints.append(f"{document}: links to {target}, which is not there")
            return target, None
        if (ROOT / path / "README.md").is_file():
            path = os.path.normpath(os.path.join(path, "README.md"))
        if path.endswith((".svg", ".png")):
            shutil.copy(ROOT / path, self.output)
            return os.path.relpath(os.path.basename(path), os.path.dirname(page) or "."), None
        if path not in self.api:
            self.left.append(path)
        title = next((title for listed, title, _ in self.listed if listed == path), None)
        url = os.path.relpath(self.target_page(path), os.path.dirname(page) or ".")
        return url + ("#" + anchor if anchor else ""), title

    def header_named(self, text):
        """The page of the API header that is named so, or None. Pages of documents are beside each other."""
        text = text.strip("<>")
        return next((self.api[name] for name in (text, "core/" + text, "core/byre/" + text)
                     if name.endswith(".hpp") and name in self.api), None)

    def navigation(self, current, root, sections):
        lines = []
        groups = {group: [entry[0] for entry in flat([(group, entries)])] for group, entries in NAVIGATION}
        for group, documents in groups.items():
            lines.append(f"<p>{group}</p>\n<ul>")
            for document, title, below in self.listed:
                if document not in documents:
                    continue
                page = page_of(document)
                here = ' aria-current="page"' if page == current else ""
                lines.append(f'<li{" class=below" if below else ""}><a href="{root}{page}"{here}>'
                             f"{html.escape(title)}</a>")
                if here and page != "index.html" and 1 < len(sections) < 30:
                    lines += ["<ul>", *(f'<li><a href="#{name}">{html.escape(text)}</a></li>'
                                        for name, text in sections), "</ul>"]
                lines.append("</li>")
            lines.append("</ul>")
        return "\n".join(lines)

    def frame(self, title, body, current, root, kind, sections=()):
        return self.template.substitute(title=title, body=body, kind=kind, root=root, version=self.version,
                                        navigation=self.navigation(current, root, sections))

    def save(self, page, title, body, kind, current=None, sections=()):
        path = self.output / page
        path.parent.mkdir(parents=True, exist_ok=True)
        root = "../" * page.count("/")
        full = title if title == "byre" else f"{title} - byre"
        kind = "home" if page == "index.html" else kind
        path.write_text(self.frame(html.escape(full), body, current, root, kind, sections))


def main():
    parser = argparse.ArgumentParser(description=__doc__, prog=os.environ.get("BYRE_PROGRAM"))
    parser.add_argument("output", type=pathlib.Path, nargs="?", default=ROOT / "build/docs",
                        help="the folder that the site is written to, anew (default: build/docs)")
    parser.add_argument("--open", action="store_true", help="show it in the browser")
    options = parser.parse_args()
    output = options.output.resolve()
    try:
        if output.exists() and any(output.iterdir()) and not (output / "style.css").is_file():
            raise Failure(f"{output} is no folder of a site, and is left as it is")
        if output.exists():
            shutil.rmtree(output)
        output.mkdir(parents=True)
        Site(output).build()
    except (Failure, OSError) as failure:
        print(f"docs: {failure}", file=sys.stderr)
        return 1
    print(f"the site is {output}/index.html")
    if options.open:
        webbrowser.open((output / "index.html").as_uri())
    return 0


if __name__ == "__main__":
    sys.exit(main())
