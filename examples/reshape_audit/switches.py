#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""switches.py OUTPUT.cpp PIPELINES.cpp : the pipelines, with a switch at each reshape and each labelled
write (switches.hpp). Nothing else changes, lines are those of the source.
"""
import pathlib
import re
import sys

RESHAPE = re.compile(r"\.reshape_?\(")
LABELLED_WRITE = re.compile(r"// .*\bwritten\b")
# What is written: of calls within calls, by the innermost.
WRITTEN = [re.compile(r"(byre::\w+_\()(\w+)(?=[,)])"),
           re.compile(r"(mutable_accessor<[^>]*>\()(\w+)(?=\))"),
           re.compile(r"()\b(\w+)(?=\.set_at\()")]


def end_of_call(text, start, where):
    """Where the parenthesis is closed that was opened before `start`."""
    depth = 1
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    sys.exit(f"{where}: a reshape that does not end in its line has no switch")


def with_switches(text, where):
    code, comment = re.fullmatch(r"(.*?)(//.*)?", text).groups(default="")
    at = 0
    while found := RESHAPE.search(code, at):
        end = end_of_call(code, found.end(), where)
        code = f"{code[:end]}, AtThisLine(){code[end:]}"
        at = found.end()
    if LABELLED_WRITE.search(comment):
        for pattern in WRITTEN:
            code, times = pattern.subn(r"\1written(\2)", code, count=1)
            if times:
                break
        else:
            sys.exit(f"{where}: a labelled write that has no switch: see {__file__}")
    return code + comment


def main(output, source):
    lines = pathlib.Path(source).read_text().splitlines()
    switched = [with_switches(text, f"{source}:{line}") for line, text in enumerate(lines, 1)]
    pathlib.Path(output).write_text(
        f'#include "switches.hpp"\n#line 1 "{source}"\n' + "\n".join(switched) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
