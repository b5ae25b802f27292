#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints what the transitions of the proofs do from each small state, step by step, as steps/ does of the
shipped code: one line per operation, interference and state. compare_steps.py compares the two."""

import pathlib
import sys

import ref_count
from code_tables import read_tables
from lock_table_steps import table_lines
from lot_steps import lot_lines
from runs import Endless, Run, start_of, steps_of
from word_steps import word_lines


class Handle(Run):
    """Of the reference count."""

    REST, ADD, DROP = OTHERS = range(3)

    def another_acts(self, others):
        if others != self.REST and self.state.handle >= 2:
            self.another("add" if others == self.ADD else "drop")

    def add(self):
        self.visit("add", "add")
        return 0

    def drop(self):
        if self.visit("count", "drop: alone"):
            self.visit("end", "drop: end")
        else:
            self.visit("drop", "drop", "drop, the last")
        return int(self.place == "destroyer")

    def count(self):
        return int(bool(self.visit("count", "count: alone")))


def handle_lines(tables):
    steps = steps_of(ref_count, tables)
    for operation in ("add", "drop", "count"):
        for others in Handle.OTHERS:
            for handles in range(1, 6):
                state = start_of(ref_count, count=handles, handle=handles)
                run = Handle(steps, state, "handle", f"ref_count {operation} {others} {handles}",
                             lambda site, s: s.count, lambda run, others=others: run.another_acts(others))
                yield run.line_of(operation)


LINES = (word_lines, handle_lines, lot_lines, table_lines)


def main(argv):
    if len(argv) != 1 or argv[0] == "--help" or not pathlib.Path(argv[0]).is_file():
        print(f"usage: protocol_steps.py PROTOCOL_TABLES\n{__doc__}",
              file=sys.stdout if "--help" in argv else sys.stderr)
        return 0 if "--help" in argv else 2
    tables = read_tables(argv[0])
    try:
        for lines in LINES:
            print(*lines(tables), sep="\n")
    except Endless as error:
        sys.exit(f"protocol_steps.py: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
