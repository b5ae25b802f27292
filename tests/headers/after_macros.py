# SPDX-License-Identifier: BSL-1.0
"""Compiles headers after the macros of others: after_macros.py CORE BUILT_CORE MACROS HEADER...

What is not byre's is included before the macros, and may break for them as it likes.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys


def includes_of_others(core):
    found = set()
    for header in sorted(pathlib.Path(core).rglob("*.hpp")):
        unconditional = re.sub(r"^#if .*?^#endif", "", header.read_text(), flags=re.DOTALL | re.MULTILINE)
        found.update(re.findall(r"^#include <((?!byre/).*)>", unconditional, re.MULTILINE))
    return sorted(found)


def main(core, built_core, macros, *headers):
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    command = [*compiler, "-std=c++20", "-I", core, "-I", built_core, "-fsyntax-only", "-x", "c++", "-"]
    lines = [f"#include <{name}>\n" for name in includes_of_others(core)]
    lines += [f'#include "{path}"\n' for path in (macros, *headers)]
    return subprocess.run(command, input="".join(lines), text=True).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
