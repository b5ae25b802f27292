#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Builds the site: documents with pandoc, API headers with doxygen, plots with gnuplot, and a page for each file that a
document links to. Fails if a link or an anchor is broken, or if a number that is bold in a link does not occur in the
linked page."""

import argparse
import html
import os
import pathlib
import re
import shutil
import string
import subprocess
import sys
import webbrowser

import figures
import reference
from tools import Failure, run

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Groups of documents. An entry with "below" is indented under the last entry without it. A missing document is omitted.
NAVIGATION = {
    "Use": [
        ("docs/site/index.md", "What byre is"), ("README.md", "README"), ("docs/guide.md", "Guide"),
        ("docs/arrays.md", "Arrays", "below"),
        ("docs/threads.md", "Parallel loops and forks", "below"),
        ("docs/atomic.md", "A variable that threads share", "below"),
        ("docs/checked-builds.md", "Checked builds", "below"), ("docs/observing.md", "Counters", "below"),
        ("docs/trace.md", "Why was this copied?", "below"), ("docs/answers.md", "Answers", "below"),
        ("docs/embedding.md", "Embedding"), ("docs/platforms.md", "Platforms", "below"),
        ("docs/c.md", "C, and no exceptions", "below"), ("docs/parts.md", "Parts of large data"),
        ("docs/processes.md", "Other processes", "below"),
        ("docs/budgets.md", "Memory limits"),
        ("docs/tiles.md", "Tiles", "below"), ("docs/devices.md", "Allocators and devices"),
        ("docs/vulkan.md", "A Vulkan device", "below"), ("docs/tensors.md", "Tensors"),
        ("docs/tensor-states.md", "States of tensors", "below"),
        ("docs/files.md", "Files", "below"), ("docs/reshape.md", "Reshape"),
        ("docs/functionalization.md", "Functionalization"),
        ("docs/functionalize-pass.md", "The functionalize pass", "below"),
        ("docs/dispatch.md", "Operators and backends", "below"), ("docs/vmap.md", "Batches by vmap", "below"),
        ("docs/python.md", "Python"), ("docs/python-processes.md", "Between processes", "below"),
        (reference.LIST, "API"), ("api/annotated.html", "All classes", "below"),
        ("examples/README.md", "Examples"),
    ],
    "Cost": [("docs/performance.md", "Performance"), ("docs/costs.md", "What a write costs", "below")],
    "Trust": [
        ("docs/verification.md", "What is checked"), ("docs/protocol.md", "Protocol"),
        ("docs/compositions.md", "Built on the protocol", "below"), ("docs/proof.md", "Proof"),
        ("stress/README.md", "Stress"),
        ("docs/fuzzing.md", "Fuzzing", "below"),
    ],
    "Develop": [("docs/changing.md", "Changing byre"), ("docs/glossary.md", "Glossary"), ("CHANGELOG.md", "Changes")],
}
TITLES = {entry[0]: entry[1] for entries in NAVIGATION.values() for entry in entries}
# pandoc's name of a language, by file suffix and by the name that documents use.
LANGUAGES = {".h": "cpp", ".c": "c", ".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".sh": "bash", ".json": "json"}
ALIKE = {"pycon": "python", "meson": "python"}


def exists(path):
    return path == reference.LIST or path.endswith(".html") or (ROOT / path).exists()


def document_page(path):
    """The page of a Markdown document, named by its path, or by its file name if it is in docs/ or in the root."""
    parts = pathlib.PurePosixPath(path)
    if path == "docs/site/index.md":
        return "index.html"
    folders = () if str(parts.parent) in ("docs", ".") else parts.parts[:-1]
    return "-".join([*folders, parts.stem.lower()]) + ".html"


def words(text):
    """The text of HTML, without tags."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


class Site:
    def __init__(self, output):
        self.output = output
        self.template = string.Template((HERE / "page.html").read_text())
        self.complaints, self.api, self.begun = [], {}, set()
        self.left = [path for path in TITLES if path.endswith(".md") and exists(path)]
        self.left += sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))

    def build(self):
        shutil.copy(HERE / "style.css", self.output)
        frame = self.frame("$title", "@body@", reference.PAGE, "../", "api")
        self.api = reference.build(ROOT, self.output, frame)
        while self.left:
            if (path := self.left.pop(0)) not in self.begun:
                self.begun.add(path)
                self.write(path)
        if complaints := self.complaints + list(wrong_links(self.output)):
            raise Failure("\n".join(complaints))

    def page_of(self, path):
        """The page of a file or folder of the repository."""
        if path in self.api:
            return self.api[path]
        if path.endswith(".md"):
            return document_page(path)
        return f"source/{path}/index.html" if (ROOT / path).is_dir() else f"source/{path}.html"

    def write(self, path):
        page = self.page_of(path)
        heading = f"<h1><code>{html.escape(path)}</code></h1>\n"
        if path.endswith(".md"):
            text = reference.list_of_headers(ROOT) if path == reference.LIST else (ROOT / path).read_text()
            body = self.document(path, page, text)
            title = words((re.search(r"<h1[^>]*>(.*?)</h1>", body, re.S) or ["", path])[1])
            self.save(page, title, body, "home" if page == "index.html" else "document")
        elif (ROOT / path).is_dir():
            rows = [f'<li><a href="{self.resolve(path + "/.", page, entry.name)[0]}"><code>{html.escape(entry.name)}'
                    "</code></a></li>" for entry in sorted((ROOT / path).iterdir()) if entry.name != "__pycache__"]
            self.save(page, path, heading + "<ul>\n" + "\n".join(rows) + "\n</ul>", "folder")
        else:
            fence, language = "`" * 12, LANGUAGES.get(pathlib.PurePath(path).suffix, "")
            text = f"{fence}{language}\n{(ROOT / path).read_text()}\n{fence}\n"
            self.save(page, path, heading + run("pandoc", "-f", "gfm", "-t", "html5", text=text), "source")

    def document(self, path, page, text):
        """Returns a document as HTML: pandoc's output with the site's links, scrollable boxes and section anchors."""
        text = re.sub(r"^( *```)(\w+)$", lambda fence: fence[1] + ALIKE.get(fence[2], fence[2]), text, flags=re.M)
        body = run("pandoc", "-f", "gfm", "-t", "html5", "--section-divs", "--wrap=preserve", text=text)
        body = re.sub(r"<a [^>]*>.*?</a>|<img [^>]*>|<h\d.*?</h\d>|<pre.*?</pre>|<code>[^<]*</code>",
                      lambda found: self.link(path, page, found[0]), body, flags=re.S)
        body = re.sub(r"(<img [^>]*>)", r'<span class="scroll figure" tabindex="0">\1</span>', body)
        body = re.sub(r"<table>.*?</table>", r'<div class="scroll table" tabindex="0">\n\g<0>\n</div>', body, flags=re.S)
        # Long names in tables may be broken at their underscores.
        body = re.sub(r"<td[^>]*>.*?</td>",
                      lambda cell: re.sub(r"(?<=\w)_(?=\w[^<>]*</code>)", "_<wbr>", cell[0]), body, flags=re.S)
        body = re.sub(r'<div class="sourceCode"[^>]*|<pre(?! class="sourceCode)[^>]*', r'\g<0> tabindex="0"', body)
        body = re.sub(r'(<section id="([^"]*)" class="level[2-6]">\n<h\d[^>]*>.*?)(</h\d>)',
                      r'\1<a href="#\2" class="anchor" aria-label="Link to this section">#</a>\3', body, flags=re.S)
        drawn = figures.Generator(ROOT, self.output)
        body = re.sub(r"<!-- site: (.*?) -->", lambda found: drawn.generate(" ".join(found[1].split())), body,
                      flags=re.S)
        return re.sub(r"<!--.*?-->\n?", "", body, flags=re.S)

    def link(self, path, page, text):
        """Returns a link, a picture, or code that names an API header, with its target relative to the page."""
        if text.startswith("<code>"):
            name = html.unescape(text[6:-7]).strip("<>")
            names = (name, "core/" + name, "core/byre/" + name) if name.endswith(".hpp") else ()
            found = next((self.api[each] for each in names if each in self.api), None)
            return f'<a href="{found}">{text}</a>' if found else text
        if not text.startswith(("<a ", "<img ")):
            return re.sub(r"<a [^>]*>.*?</a>", lambda found: self.link(path, page, found[0]), text, flags=re.S) \
                if text.startswith("<h") else text
        target = re.search(r'(?:href|src)="([^"]*)"', text)[1]
        url, title = self.resolve(path, page, html.unescape(target))
        text = text.replace(f'"{target}"', f'"{html.escape(url)}"', 1)
        if title and re.fullmatch(r"[\w-]+\.md", words(text)):
            text = re.sub(r">.*<", lambda _: f">{html.escape(title)}<", text, flags=re.S)
        return text

    def resolve(self, document, page, target):
        """Returns a document's link relative to its page, and the title of its target in the navigation, or None."""
        if target.startswith(("#", "http://", "https://", "mailto:")):
            return target, None
        name, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(document), name))
        if path.startswith("..") or not exists(path):
            self.complaints.append(f"{document}: links to {target}, which does not exist")
            return target, None
        if (ROOT / path / "README.md").is_file():
            path = os.path.normpath(os.path.join(path, "README.md"))
        folder = os.path.dirname(page) or "."
        if path.endswith((".svg", ".png")):
            shutil.copy(ROOT / path, self.output)
            return os.path.relpath(os.path.basename(path), folder), None
        if path not in self.api:
            self.left.append(path)
        return os.path.relpath(self.page_of(path), folder) + (anchor and "#" + anchor), TITLES.get(path)

    def navigation(self, current, root, sections):
        lines = []
        for group, entries in NAVIGATION.items():
            lines.append(f"<p>{group}</p>\n<ul>")
            for path, title, *below in entries:
                if exists(path):
                    page = path if path.endswith(".html") else document_page(path)
                    here = ' aria-current="page"' if page == current else ""
                    lines.append(f'<li{" class=below" * len(below)}><a href="{root}{page}"{here}>'
                                 f"{html.escape(title)}</a>")
                    if here and page != "index.html" and 1 < len(sections) < 30:
                        lines += ["<ul>", *(f'<li><a href="#{name}">{html.escape(text)}</a></li>'
                                            for name, text in sections), "</ul>"]
                    lines.append("</li>")
            lines.append("</ul>")
        return "\n".join(lines)

    def frame(self, title, body, page, root, kind):
        sections = [(name, words(text).removesuffix("#")) for name, text in
                    re.findall(r'<section id="([^"]*)" class="level2">\n<h2[^>]*>(.*?)</h2>', body, re.S)]
        return self.template.substitute(title=title, body=body, kind=kind, root=root,
                                        version=(ROOT / "VERSION").read_text().strip(),
                                        navigation=self.navigation(page, root, sections))

    def save(self, page, title, body, kind):
        path = self.output / page
        path.parent.mkdir(parents=True, exist_ok=True)
        full = title if title == "byre" else f"{title} - byre"
        path.write_text(self.frame(html.escape(full), body, page, "../" * page.count("/"), kind))


def wrong_links(folder):
    """Yields broken links, duplicate anchors, and bold numbers in links that do not occur in the linked page."""
    pages = {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*.html"))}
    anchors = {name: re.findall(r'<[^>]*?\s(?:id|(?<=<a )name)="([^"]*)"', text) for name, text in pages.items()}
    for name, text in pages.items():
        yield from (f"{name}: duplicate anchor '{each}'" for each in sorted(set(anchors[name]))
                    if anchors[name].count(each) > 1)
        for link in re.findall(r'<[^>]*?\s(?:href|src)="([^"]*)"', text):
            path, _, anchor = html.unescape(link).partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if re.match(r"\w+:", path):
                continue
            if not (folder / target).is_file():
                yield f"{name}: links to {link}, which does not exist"
            elif anchor and anchor not in anchors[target]:
                yield f"{name}: links to {link}, but {target} lacks this anchor"
            for figure in re.findall(rf'<a href="{re.escape(link)}">[^<]*<strong>([^<]*)</strong>', text):
                if target in pages and words(figure) not in words(pages[target]):
                    yield f"{name}: states '{words(figure)}', which does not occur in {link}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, prog=os.environ.get("BYRE_PROGRAM"))
    parser.add_argument("output", type=pathlib.Path, nargs="?", default=ROOT / "build/docs",
                        help="the folder to replace by the site (default: build/docs)")
    parser.add_argument("--open", action="store_true", help="open the site in a browser")
    options = parser.parse_args()
    output = options.output.resolve()
    try:
        if output.exists() and any(output.iterdir()) and not (output / "style.css").is_file():
            raise Failure(f"{output} is neither empty nor a site. Name another folder.")
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        Site(output).build()
    except (Failure, OSError, subprocess.CalledProcessError) as failure:
        print(f"docs: {failure}", file=sys.stderr)
        return 1
    print(f"wrote {output}/index.html")
    if options.open:
        webbrowser.open((output / "index.html").as_uri())
    return 0


if __name__ == "__main__":
    sys.exit(main())
