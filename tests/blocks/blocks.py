# SPDX-License-Identifier: BSL-1.0
"""The blocks of code in the README and in docs/*.md, with the comments before them that say how each is checked.

A comment stands in lines of its own just before the fence. Readers of the page do not see it.

    <!-- with: C++ -->        declares what the fragment after it uses and does not show
    <!-- check: C++ -->       runs after the fragment; of a text, `text` is the block
    <!-- stands in: FILE -->  the block's lines stand in FILE in this order, which a test builds, runs or compares
    <!-- KIND -->             says what a text is that no program can print again: one of KINDS in classes.py

A fragment may have `with` and `check` both.
"""
import dataclasses
import pathlib
import re

FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*([^`]*)$")
COMMENT = re.compile(r"^<!--\s*(?:(with|check|stands in):\s*)?(.*?)\s*-->\s*$", re.S)


@dataclasses.dataclass
class Comment:
    name: str  # "" of a kind
    text: str
    line: int  # where the text begins


@dataclasses.dataclass
class Block:
    page: str  # as from the root
    line: int  # of the first line inside
    language: str  # "" of a block without one, "indented" of one without a fence
    text: str
    comments: list
    follows: "Block | None" = None  # the block that this one comes after, with a word or two between

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    def said(self, name):
        return next((comment for comment in self.comments if comment.name == name), None)

    @property
    def is_program(self):
        return self.language == "cpp" and re.search(r"^int main\(", self.text, re.M) is not None


def pages(root):
    root = pathlib.Path(root)
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def blocks_of(page, root):
    """The blocks of a page, in order."""
    name = pathlib.Path(page).relative_to(root).as_posix()
    return list(read(pathlib.Path(page).read_text(), name))


def all_blocks(root):
    return [block for page in pages(root) for block in blocks_of(page, root)]


def read(text, name):
    lines = text.splitlines(keepends=True)
    comments, previous, at = [], None, 0
    in_list = False
    since = 0  # lines of prose after the last block
    while at < len(lines):
        line = lines[at]
        if fence := FENCE.match(line):
            end = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == fence[2]), None)
            if end is None:
                raise SystemExit(f"{name}:{at + 1}: this block has no end")
            inside = "".join(each[len(fence[1]):] if each.startswith(fence[1]) else each for each in lines[at + 1:end])
            previous = Block(name, at + 2, fence[3].strip(), inside, comments, previous if since <= 3 else None)
            yield previous
            comments, since, at = [], 0, end + 1
        elif line.startswith("<!--"):
            end = next((i for i in range(at, len(lines)) if "-->" in lines[i]), at)
            whole = "".join(lines[at:end + 1])
            if found := COMMENT.match(whole):
                before = whole[:found.start(2)].count("\n")
                comments.append(Comment(found[1] or "", found[2], at + 1 + before))
            at = end + 1
        elif re.match(r" {4,}\S", line) and not in_list and (at == 0 or not lines[at - 1].strip()):
            end = next((i for i in range(at, len(lines)) if not lines[i].startswith("    ") and lines[i].strip()),
                       len(lines))
            previous = Block(name, at + 1, "indented", "".join(each[4:] for each in lines[at:end]), comments)
            yield previous
            comments, since, at = [], 0, end
        else:
            comments = []
            if line.strip():
                since += 1
                in_list = re.match(r"\s*([-*+]|\d+\.) ", line) is not None or (in_list and line[0] == " ")
            at += 1
