# SPDX-License-Identifier: BSL-1.0
"""The example in the README: readme.py program README OUTPUT | readme.py check README PROGRAM"""
import pathlib
import re
import subprocess
import sys


def block(readme, language):
    found = re.search(rf"^```{language}\n(.*?)^```$", readme, re.S | re.M)
    if not found:
        sys.exit(f"the README has no ```{language} block")
    return found[1]


def main(what, readme, file):
    readme = pathlib.Path(readme).read_text()
    if what == "program":
        program = block(readme, "cpp")
        if (lines := program.count("\n")) != 10:
            sys.exit(f"the README's example of ten lines has {lines}")
        pathlib.Path(file).write_text(program)
    else:
        printed = subprocess.run([file], check=True, capture_output=True, text=True).stdout
        if printed != (promised := block(readme, "text")):
            sys.exit(f"the example prints {printed!r}, the README says {promised!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
