# SPDX-License-Identifier: BSL-1.0
"""refused_elements.py CORE BUILT_CORE: checks that byre::Array<T> refuses types with a message that says why."""
import os
import shlex
import subprocess
import sys

COMPILER = shlex.split(os.environ.get("CXX", "c++"))
BEGIN = """#include <byre/storage/array.hpp>
struct Text { Text(const Text&); };
struct alignas(128) Wide { int number; };
struct Unique { Unique(Unique&&) = default; Unique& operator=(Unique&&) = default; };
using Pair = int[2];
std::size_t use(const byre::Array<"""
END = ">& array) { return array.size(); }\n"
REFUSED = {"Text": "T must be trivially copyable", "const int": "have no cv-qualifier",
           "Wide": "the alignment of T exceeds", "Unique": "T must have a copy constructor",
           "Pair": "T must not be an array"}


def compiled(element, core, built_core):
    return subprocess.run([*COMPILER, "-std=c++20", "-I", core, "-I", built_core, "-fsyntax-only", "-x", "c++", "-"],
                          input=BEGIN + element + END, text=True, capture_output=True)


def main(*cores):
    accepted = compiled("int", *cores)
    if accepted.returncode != 0:
        sys.exit(f"Array<int> does not compile:\n{accepted.stderr}")
    for element, said in REFUSED.items():
        refused = compiled(element, *cores)
        if refused.returncode == 0 or said not in refused.stderr:
            sys.exit(f"Array<{element}> is not refused with '{said}':\n{refused.stderr}")


if __name__ == "__main__":
    main(*sys.argv[1:])
