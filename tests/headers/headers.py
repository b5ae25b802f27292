# SPDX-License-Identifier: BSL-1.0
"""headers.py warnings|macros CORE BUILT_CORE HEADER...: compiles all API headers as one source.

`warnings`: with all warnings of clang. `macros`: after the macros in macros_of_others.hpp. Other headers that byre
includes precede these macros, because the macros may break them."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

SKIPPED = 77
MACROS = pathlib.Path(__file__).resolve().parent / "macros_of_others.hpp"
DISABLED_WARNINGS = [
    # These warn of constructs that a C++20 library of types and pointers consists of.
    "-Wno-c++98-compat", "-Wno-c++98-compat-pedantic", "-Wno-c++20-compat",  # constinit, consteval, lambdas
    "-Wno-padded", "-Wno-undefined-func-template",  # any struct with padding
    "-Wno-unsafe-buffer-usage", "-Wno-unsafe-buffer-usage-in-container",  # any pointer arithmetic
    "-Wno-weak-vtables",  # any class with only inline functions
    "-Wno-switch-default",  # contradicts -Wcovered-switch-default
    "-Wno-unknown-warning-option",  # other versions of clang lack some of the warnings above
]


def foreign_includes(core):
    found = set()
    for header in sorted(set(pathlib.Path(core).rglob("*.hpp")) - set(pathlib.Path(core).rglob("windows.hpp"))):
        unconditional = re.sub(r"^#if .*?^#endif", "", header.read_text(), flags=re.DOTALL | re.MULTILINE)
        found.update(re.findall(r"^#include <(?!byre/).*>", unconditional, re.MULTILINE))
    return sorted(found)


def main(what, core, built_core, *headers):
    lines = [f'#include "{header}"' for header in headers]
    if what == "macros":
        lines = [*foreign_includes(core), f'#include "{MACROS}"', *lines]
        commands = [shlex.split(os.environ.get("CXX", "c++"))]
    else:
        commands = [[name, "-Weverything", "-Werror", *DISABLED_WARNINGS] for name in ("clang++", "clang++-19")
                    if shutil.which(name)]
    failed = 0
    for command in commands:
        command += ["-std=c++20", "-I", core, "-I", built_core, "-fsyntax-only", "-x", "c++", "-"]
        print("+", *command, flush=True)
        failed |= subprocess.run(command, input="\n".join(lines) + "\n", text=True).returncode
    return (1 if failed else 0) if commands else SKIPPED


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
