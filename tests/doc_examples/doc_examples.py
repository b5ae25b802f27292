# SPDX-License-Identifier: BSL-1.0
"""Checks the code blocks in the README, in docs/*.md, and in the comments of core's headers.

    doc_examples.py check ROOT                  checks the rules below
    doc_examples.py write ROOT OUTPUT DEPENDENCIES [LIBRARY]
                                                writes one program that contains and runs all C++ blocks, except those
                                                that need a library, or with LIBRARY those that need it

A comment in separate lines directly before a fence defines how the block is checked. The rendered page hides the
comment.

    <!-- with: C++ -->        declarations that the fragment uses and does not show
    <!-- check: C++ -->       runs after the fragment; for a text block, the variable `text` contains the block
    <!-- needs: LIBRARY -->   the block uses another library, one of LIBRARIES
    <!-- namespace: NAME -->  the fragment is in this namespace, and later fragments can use it
    <!-- stands in: FILE -->  the block is part of FILE, which a test builds or runs; "..." stands for omitted lines
    <!-- KIND -->             why no program prints this text: one of KINDS

In a header a block is between "/// ```cpp" and "/// ```", and states its results by assert().

A complete program is run, and the text block after it must be its output. python/tests/test_documents.py runs Python
sessions; tests/embedding uses the blocks in Meson, CMake and INI.
"""
import dataclasses
import pathlib
import re
import sys

KINDS = {"a drawing", "measured", "sample output"}
LANGUAGES = {"c", "cpp", "json", "pycon", "python", "sh", "text"}
LIBRARIES = {"eigen", "opencv", "torch", "xtensor"}
LANGUAGES_OF_README = {"cmake", "ini", "meson"}
# Matches any number of comments, a fence, the contents, and the closing fence.
BLOCK = re.compile(r"^((?:<!--(?:(?!-->).)*-->\n)*)( *)```(\w*)\n(.*?)^\2```$", re.M | re.S)
COMMENT = re.compile(r"<!--\s*(?:(with|check|needs|namespace|stands in):\s*)?(.*?)\s*-->\n", re.S)
INCLUDE = re.compile(r"^#include .*$", re.M)
TOP = """// Written by tests/doc_examples/doc_examples.py.
#include <byre/{byre}.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "doc_examples/fragments.hpp"
"""
ASSERT = """// Examples in headers use assert(), which other builds may disable.
#undef assert
#define assert(...) EXPECT(__VA_ARGS__)
"""


@dataclasses.dataclass
class Block:
    page: str  # relative to the root
    line: int  # the number of the first line inside the block
    language: str
    text: str
    comments: dict  # name: (text, its line number); the name of a KIND is ""
    program: "Block | None"  # the complete program directly before a text block

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def library(self):
        return self.comments.get("needs", (None, 0))[0]

    @property
    def is_program(self):
        return self.language == "cpp" and re.search(r"^int main\(", self.text, re.M) is not None

    @property
    def is_compiled(self):
        return "stands in" not in self.comments and (
            self.language == "cpp" or (self.language == "text" and "check" in self.comments))


def pages(root):
    headers = [path for path in sorted(pathlib.Path(root, "core").rglob("*.hpp")) if "/// ```" in path.read_text()]
    return [pathlib.Path(root, "README.md"), *sorted(pathlib.Path(root, "docs").glob("*.md")), *headers]


def text_of(page):
    """The text of a page; of a header only the documentation comments, with all other lines empty."""
    text = page.read_text()
    if page.suffix == ".hpp":
        text = "\n".join(re.sub(r"^///? ?", "", line) if line.startswith("///") else "" for line in text.split("\n"))
    return text


def blocks_of(page, root):
    """Yields the blocks of a page, in order."""
    text, name = text_of(page), page.relative_to(root).as_posix()
    if len(re.findall(r"^ *```", text, re.M)) != 2 * len(BLOCK.findall(text)):
        sys.exit(f"{name}: a fence is not closed, or has more than three backticks")
    last, end = None, 0
    for found in BLOCK.finditer(text):
        def line_of(at):
            return text.count("\n", 0, at) + 1
        comments = {each[1] or "": (each[2], line_of(found.start() + each.start(2)))
                    for each in COMMENT.finditer(found[1])}
        inside = re.sub(rf"^{found[2]}", "", found[4], flags=re.M)
        is_after = last is not None and last.is_program and text.count("\n", end, found.start()) <= 5
        last = Block(name, line_of(found.start(4)), found[3], inside, comments, last if is_after else None)
        end = found.end()
        yield last


def all_blocks(root):
    root = pathlib.Path(root)
    return [block for page in pages(root) for block in blocks_of(page, root)]


def errors_in(block, root):
    if block.language not in LANGUAGES | (LANGUAGES_OF_README if block.page == "README.md" else set()):
        yield f"no test checks a block in '{block.language}' on this page"
    if block.language == "text" and (block.program is not None) + len(block.comments) != 1:
        yield f"needs either a program or one comment before it: check, stands in, or one of {sorted(KINDS)}"
    elif block.language == "c" and list(block.comments) != ["stands in"]:
        yield "is not compiled. Put it into a program that a test builds, and name the file: stands in."
    elif block.language not in ("c", "cpp", "text") and block.comments:
        yield f"a comment before a block in {block.language} has no effect. Remove it."
    if block.library not in LIBRARIES | {None}:
        yield f"unknown library '{block.library}', allowed are {sorted(LIBRARIES)}"
    kind, _ = block.comments.get("", ("measured", 0))
    if kind not in KINDS:
        yield f"unknown kind of text '{kind}', allowed are {sorted(KINDS)}"
    if block.language == "python" and not block.text.startswith(">>> "):
        yield "is not a session. Begin it with >>>."
    if "stands in" in block.comments:
        file = root / block.comments["stands in"][0]
        parts = [r"\s+".join(map(re.escape, part.split())) for part in block.text.split("...")]
        if not file.is_file() or not re.search(r"\s*(?:.|\n)*?\s*".join(parts), file.read_text()):
            yield f"not found in {file}"


def at(page, line, code):
    return f'#line {line} "{page}"\n{code.rstrip()}\n' if code.strip() else ""


def literal(text):
    return f'R"text({text})text"'


def function(number, block, printed):
    """A function fragment_N for a fragment, for a program and the text that it prints, or for the check of a text."""
    code = INCLUDE.sub("", block.text)  # includes move to the top of the program
    before, after = (at(block.page, line, text) for text, line in
                     (block.comments.get(name, ("", 0)) for name in ("with", "check")))
    if block.is_program:
        main = re.sub(r"^int main\(", f"int program_{number}(", code, count=1, flags=re.M)
        top = at(block.page, block.line, main.rstrip().removesuffix("}") + "return 0;\n}\n")
        run = f"documents::printed_by([] {{ program_{number}(); }})"
        before, code = "", f"EXPECT_LIKE({literal(printed.text)}, {run});\n" if printed else f"{run};\n"
    elif block.language == "text":
        top, before, code = "", f"const std::string text = {literal(block.text)};\n", ""
    else:
        top, code = "", at(block.page, block.line, code)
        if "namespace" in block.comments:
            name = block.comments["namespace"][0]
            top, before, code = f"namespace {name} {{\n{before}{code}}}\n", "", f"using namespace {name};\n"
    return f"namespace {{\n{top}void fragment_{number}() {{\n{before}{code}{after}}}\n}}  // namespace\n"


def program(root, library=None):
    found = all_blocks(root)
    printed = {id(block.program): block for block in found if block.language == "text" and block.program}
    compiled = [block for block in found if block.is_compiled and block.library == library]
    includes = sorted({include for block in compiled for include in INCLUDE.findall(block.text)})
    functions = [function(number, block, printed.get(id(block))) for number, block in enumerate(compiled)]
    table = "".join(f'    {{"{block.place}", fragment_{number}}},\n' for number, block in enumerate(compiled))
    return "\n".join([TOP.replace("{byre}", "byre" if library else "functional"), *includes, ASSERT, *functions,
                      f"int main() {{\n  static constexpr documents::Fragment fragments[] = {{\n{table}  }};\n"
                      "  return documents::run_all(fragments);\n}\n"])


def main(what, root, *outputs):
    root = pathlib.Path(root)
    if what == "check":
        found = [f"{block.place}: {said}" for block in all_blocks(root) for said in errors_in(block, root)]
        print("\n".join(found))
        return 1 if found else 0
    output, dependencies = map(pathlib.Path, outputs[:2])
    output.write_text(program(root, *outputs[2:]))
    # Includes the folder, so that a new page causes a rebuild.
    dependencies.write_text(f"{output}: {' '.join(map(str, [root / 'docs', *pages(root), __file__]))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
