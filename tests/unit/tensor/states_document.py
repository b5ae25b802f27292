#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Keeps the table in docs/tensor-states.md, which PROGRAM prints from what the tests check.

  states_document.py PROGRAM DOCUMENT          says whether the document has that table
  states_document.py --write PROGRAM DOCUMENT  puts it there
"""

import argparse
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "support"))
from built import command

BEGIN = "<!-- states_document.py begins -->\n"
END = "<!-- states_document.py ends -->\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into the document")
    parser.add_argument("program", help="what prints the table")
    parser.add_argument("document", type=pathlib.Path)
    arguments = parser.parse_args()

    checked = subprocess.run(command(arguments.program), check=True, capture_output=True,
                             text=True).stdout
    text = arguments.document.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        print(f"{arguments.document}: has to have one '{BEGIN.strip()}' and one '{END.strip()}'")
        return 1
    before, rest = text.split(BEGIN)
    documented, after = rest.split(END)
    if arguments.write:
        arguments.document.write_text(before + BEGIN + checked + END + after)
        return 0
    if documented == checked:
        return 0
    wrong = set(documented.splitlines()) ^ set(checked.splitlines())
    print(f"{arguments.document} has another table than the tests; --write mends it:")
    for side, lines in (("document", documented), ("tests", checked)):
        for line in lines.splitlines():
            if line in wrong:
                print(f"  {side}: {line}")
    if not wrong:
        print("  the lines are in another order")
    return 1


if __name__ == "__main__":
    sys.exit(main())
