# SPDX-License-Identifier: BSL-1.0
"""The names that a shared library exports: exported.py [--update] LIBRARY LIST

Compares those that the library defines for good, and not in passing like the inline functions of
templates, with the list, one name a line. --update writes the list anew.
"""
import argparse
import pathlib
import subprocess
import sys

# Defined in read-only memory, data, zeroed data, or text. The weak ones are inline functions, which
# compilers make or leave out as they see fit, but for what exceptions are known by.
STRONG = set("RDBT")
KNOWN_BY = "typeinfo for byre::v0::"


def exported(library):
    command = ["nm", "--dynamic", "--defined-only", "--demangle", library]
    for line in subprocess.run(command, check=True, text=True, capture_output=True).stdout.splitlines():
        _address, kind, name = line.split(maxsplit=2)
        if kind in STRONG or name.startswith(KNOWN_BY):
            yield name.replace("::v0::", "::").replace("::__cxx11::", "::").replace("[abi:cxx11]", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the list anew")
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("list", type=pathlib.Path)
    given = parser.parse_args()
    names = sorted(set(exported(given.library)))
    if given.update:
        given.list.write_text("".join(f"{name}\n" for name in names))
        return 0
    listed = given.list.read_text().splitlines()
    for name in sorted(set(names) - set(listed)):
        print(f"+ {name}\n    is exported and not in {given.list.name}: hide it, or list it if it is API")
    for name in sorted(set(listed) - set(names)):
        print(f"- {name}\n    is in {given.list.name} and not exported: give it BYRE_API, or take it out")
    if names != listed:
        print(f"\nTo list what is exported now: {sys.argv[0]} --update {given.library} {given.list}")
    return 0 if names == listed else 1


if __name__ == "__main__":
    sys.exit(main())
