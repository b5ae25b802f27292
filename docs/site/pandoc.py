# SPDX-License-Identifier: BSL-1.0
"""A Markdown document as HTML, by pandoc: its links, its tables and its code are changed in between."""
import json
import re
import subprocess

# Languages that pandoc does not know, by one that looks alike.
ALIKE = {"pycon": "python", "meson": "python"}

# In place of what is left out.
GONE = object()


class Failure(Exception):
    """Something the user has to be told, in one line."""


def run(arguments, text):
    try:
        result = subprocess.run(["pandoc", *arguments], input=text, text=True, capture_output=True, check=False)
    except OSError as error:
        raise Failure(f"cannot run pandoc (Debian: apt-get install pandoc): {error.strerror}") from error
    if result.returncode:
        raise Failure(f"pandoc failed: {result.stderr.strip()}")
    return result.stdout


def plain(inlines):
    """What inlines say, without their form."""
    text = []
    for inline in inlines:
        content = inline.get("c")
        match inline["t"]:
            case "Str":
                text.append(content)
            case "Space" | "SoftBreak" | "LineBreak":
                text.append(" ")
            case "Code":
                text.append(content[1])
            case "Link" | "Image" | "Span" | "Quoted":
                text.append(plain(content[1]))
            case "Emph" | "Strong" | "Strikeout":
                text.append(plain(content))
    return "".join(text)


class Document:
    """Of a document's text: `title`, `sections` as (id, title), and `html()`.

    `resolve(target)` says where a link leads, and what that is called where the link's text is a file's name.
    `link_code(text)` says where code inside a line leads, or None, and `generate(what)` is the HTML for a comment
    `<!-- site: what -->`. All other comments are left out."""

    def __init__(self, text, resolve, link_code, generate):
        self.title, self.sections = None, []
        self._resolve, self._link_code, self._generate = resolve, link_code, generate
        self._tree = json.loads(run(["-f", "gfm", "-t", "json"], text))
        self._tree["blocks"] = self._change(self._tree["blocks"], in_link=False)

    def html(self):
        page = run(["-f", "json", "-t", "html5", "--section-divs", "--wrap=preserve"], json.dumps(self._tree))
        # Long names in tables may be broken where their words end.
        return re.sub(r"<td[^>]*>.*?</td>", lambda cell: re.sub(r"(?<=\w)_(?=\w[^<>]*</code>)", "_<wbr>", cell[0]), page,
                      flags=re.S)

    def _change(self, node, in_link):
        if isinstance(node, list):
            changed = [self._change(part, in_link) for part in node]
            return [part for part in changed if part is not GONE]
        if not isinstance(node, dict) or "t" not in node:
            return node
        kind, content = node["t"], node.get("c")
        if kind in ("RawBlock", "RawInline") and content[1].startswith("<!--"):
            what = re.fullmatch(r"<!-- site: (.*) -->\s*", content[1], re.S)
            return {"t": kind, "c": ["html", self._generate(" ".join(what[1].split()))]} if what else GONE
        if kind == "CodeBlock":
            content[0][1] = [ALIKE.get(name, name) for name in content[0][1]]
            content[0][2].append(["tabindex", "0"])
            return node
        if kind == "Code":
            target = None if in_link else self._link_code(content[1])
            return {"t": "Link", "c": [["", [], []], [node], [target, ""]]} if target else node
        if kind in ("Link", "Image"):
            content[2][0], title = self._resolve(content[2][0])
            content[1] = self._change(content[1], in_link=True)
            if title and re.fullmatch(r"[\w-]+\.md", plain(content[1])):
                content[1] = [{"t": "Str", "c": title}]
            return in_a_box(node, "figure") if kind == "Image" else node
        if kind == "Header":
            self._take_header(content)
            return node
        if content is not None:
            node["c"] = self._change(content, in_link)
        return in_a_box(node, "table") if kind == "Table" else node

    def _take_header(self, content):
        level, attributes, inlines = content
        if level == 1 and self.title is None:
            self.title = plain(inlines)
        if level == 2:
            self.sections.append((attributes[0], plain(inlines)))
        content[2] = self._change(inlines, in_link=True)
        if level > 1:
            content[2].append({"t": "Link", "c": [["", ["anchor"], [["aria-label", "Link to this section"]]],
                                                  [{"t": "Str", "c": "#"}], ["#" + attributes[0], ""]]})


def in_a_box(node, kind):
    """A box that scrolls where its content is wider than the page."""
    box = ["", ["scroll", kind], [["tabindex", "0"]]]
    return {"t": "Div" if node["t"] == "Table" else "Span", "c": [box, [node]]}
