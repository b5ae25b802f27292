# SPDX-License-Identifier: BSL-1.0
"""Compiles headers with all warnings that clang has: every_warning.py CORE BUILT_CORE HEADER..."""
import shutil
import subprocess
import sys

SKIPPED = 77

NOT_HELD = [
    # What the warned-of names is what a C++20 library of types and pointers is made of.
    "-Wno-c++98-compat", "-Wno-c++98-compat-pedantic", "-Wno-c++20-compat",  # constinit, consteval, lambdas
    "-Wno-padded",  # of any struct that is not full
    "-Wno-unsafe-buffer-usage", "-Wno-unsafe-buffer-usage-in-container",  # of any pointer arithmetic
    "-Wno-weak-vtables",  # of any class whose functions are all inline
    "-Wno-switch-default",  # -Wcovered-switch-default wants none where all enumerators have a case
    "-Wno-unknown-warning-option",  # for those of other versions above
]


def main(core, built_core, *headers):
    compilers = [name for name in ("clang++", "clang++-19") if shutil.which(name)]
    if not compilers:
        print("there is no clang++ on this machine")
        return SKIPPED
    failed = 0
    for compiler in compilers:
        command = [compiler, "-std=c++20", "-Weverything", "-Werror", *NOT_HELD, "-I", core, "-I", built_core,
                   "-fsyntax-only", "-x", "c++", "-"]
        print("+", *command, flush=True)
        text = "".join(f'#include "{header}"\n' for header in headers)
        failed |= subprocess.run(command, input=text, text=True).returncode
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
