# SPDX-License-Identifier: BSL-1.0
"""Objects of the process survive a fork, and threads' ends a full heap: first_uses.py LIBRARY

A static of a function that is initialized on first use has a guard, which a child waits for that was forked
meanwhile. A thread-local object with a destructor is registered on the heap, or the program ends.
"""
import re
import subprocess
import sys

# The handler of warnings is below the locks of the process, and made when the library is loaded.
MAY_BE_GUARDED = r"byre::\w+::detail::warning_handler\(\)::|boost::"


def complaints(symbols):
    for line in symbols.splitlines():
        if found := re.search(r"guard variable for (.*)", line):
            if not re.match(MAY_BE_GUARDED, found[1]):
                yield f"{found[1]} is initialized on first use; sync::no_destructor does so"
        elif re.search(r"__cxa_thread_atexit", line):
            yield "a thread-local object has a destructor; sync::detail::AtThreadEnd calls a function"


def main(library):
    command = ["nm", "--demangle", library]
    symbols = subprocess.run(command, check=True, text=True, capture_output=True).stdout
    if "byre::" not in symbols:
        sys.exit("there is no symbol of byre: the checks would see nothing")
    if found := list(complaints(symbols)):
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
