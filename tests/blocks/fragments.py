# SPDX-License-Identifier: BSL-1.0
"""Writes the C++ of the documents as one program: fragments.py ROOT OUTPUT DEPENDENCIES

Each block is a function, with what its comments say before and after it (blocks.py). A complete program is run, and
the text after it is what it prints. The compiler names places in the documents.
"""
import pathlib
import re
import sys

import blocks

TOP = """// Written by tests/blocks/fragments.py.
#include <byre/functional.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "blocks/fragments.hpp"
"""
INCLUDE = re.compile(r"^#include .*$", re.M)


def is_compiled_here(block):
    if block.said("stands in"):
        return False
    return block.language == "cpp" or (block.language == "text" and block.said("check") is not None)


def at(page, line, code):
    return f'#line {line} "{page}"\n{code.rstrip()}\n' if code.strip() else ""


def literal(text):
    return f'R"text({text})text"'


def function(number, block, following):
    """A fragment, a program or the check of a text, as a function fragment_N."""
    code = INCLUDE.sub("", block.text)  # those stand at the top
    name = f"fragment_{number}"
    before, after = (at(block.page, said.line, said.text) if (said := block.said(what)) else ""
                     for what in ("with", "check"))
    if block.is_program:
        program = re.sub(r"^int main\(", f"int program_{number}(", code, count=1, flags=re.M)
        program = program.rstrip().removesuffix("}") + "return 0;\n}\n"  # which main alone need not say
        printed = (f"EXPECT_LIKE({literal(following.text)}, documents::printed_by([] {{ program_{number}(); }}));\n"
                   if following is not None and following.follows is block and following.language == "text"
                   else f"program_{number}();\n")
        return f"namespace {{\n{at(block.page, block.line, program)}void {name}() {{\n{printed}}}\n}}  // namespace\n"
    if block.language == "text":
        before, code = f"const std::string text = {literal(block.text)};\n", ""
    return f"namespace {{\nvoid {name}() {{\n{before}{at(block.page, block.line, code)}{after}}}\n}}  // namespace\n"


def defines_classes(block):
    """That byre calls, and that readers copy."""
    return "true" if ": public byre::" in block.text else "false"


def program(root):
    found = blocks.all_blocks(root)
    here = [(block, following) for block, following in zip(found, [*found[1:], None]) if is_compiled_here(block)]
    includes = sorted({include for block, _ in here if block.language == "cpp"
                       for include in INCLUDE.findall(block.text)})
    functions = [function(number, *each) for number, each in enumerate(here)]
    table = "".join(f'    {{"{block.place}", fragment_{number}, {defines_classes(block)}}},\n' for number, (block, _) in enumerate(here))
    return "\n".join([TOP, *includes, *functions,
                      f"int main() {{\n  static constexpr documents::Fragment fragments[] = {{\n{table}  }};\n"
                      "  return documents::run_all(fragments);\n}\n"])


def main(root, output, dependencies):
    root = pathlib.Path(root)
    pathlib.Path(output).write_text(program(root))
    # The folder is among them, so that a new page is seen.
    read = [root / "docs", *blocks.pages(root), pathlib.Path(blocks.__file__)]
    pathlib.Path(dependencies).write_text(f"{output}: {' '.join(map(str, read))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
