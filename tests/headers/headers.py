# SPDX-License-Identifier: BSL-1.0
"""Compiles all API headers as one source: headers.py warnings|macros CORE BUILT_CORE HEADER...

`warnings`: with all warnings that clang has. `macros`: after the macros of others. What the headers include that is not
byre's comes before these, and may break for them."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

SKIPPED = 77
MACROS = pathlib.Path(__file__).resolve().parent / "macros_of_others.hpp"
NOT_HELD = [
    # A C++20 library of types and pointers consists of what these warn of.
    "-Wno-c++98-compat", "-Wno-c++98-compat-pedantic", "-Wno-c++20-compat",  # constinit, consteval, lambdas
    "-Wno-padded", "-Wno-undefined-func-template",  # of any struct that is not full
    "-Wno-unsafe-buffer-usage", "-Wno-unsafe-buffer-usage-in-container",  # of any pointer arithmetic
    "-Wno-weak-vtables",  # of any class whose functions are all inline
    "-Wno-switch-default",  # -Wcovered-switch-default wants none where all enumerators have a case
    "-Wno-unknown-warning-option",  # for those of other versions above
]


def includes_of_others(core):
    found = set()
    for header in sorted(pathlib.Path(core).rglob("*.hpp")):
        unconditional = re.sub(r"^#if .*?^#endif", "", header.read_text(), flags=re.DOTALL | re.MULTILINE)
        found.update(re.findall(r"^#include <(?!byre/).*>", unconditional, re.MULTILINE))
    return sorted(found)


def main(what, core, built_core, *headers):
    lines = [f'#include "{header}"' for header in headers]
    if what == "macros":
        lines = [*includes_of_others(core), f'#include "{MACROS}"', *lines]
        commands = [shlex.split(os.environ.get("CXX", "c++"))]
    else:
        commands = [[name, "-Weverything", "-Werror", *NOT_HELD] for name in ("clang++", "clang++-19")
                    if shutil.which(name)]
    failed = 0
    for command in commands:
        command += ["-std=c++20", "-I", core, "-I", built_core, "-fsyntax-only", "-x", "c++", "-"]
        print("+", *command, flush=True)
        failed |= subprocess.run(command, input="\n".join(lines) + "\n", text=True).returncode
    return (1 if failed else 0) if commands else SKIPPED


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
