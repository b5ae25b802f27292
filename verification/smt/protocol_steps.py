#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares what the shipped code and the transitions of the proofs do from each small state, step by step: one line per
operation, interference and state. The program that is built of steps/ prints those of the code.

usage: protocol_steps.py PROTOCOL_STEPS PROTOCOL_TABLES
Any difference fails, and is printed."""

import difflib
import itertools
import pathlib
import subprocess
import sys

import ref_count
from bucket_steps import lot_lines, table_lines
from code_tables import read_tables
from runs import Endless, Run, start_of, steps_of
from word_steps import word_lines


LIMIT_S = 120


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
    for operation, others, handles in itertools.product(("add", "drop", "count"), Handle.OTHERS, range(1, 6)):
        state = start_of(ref_count, count=handles, handle=handles)
        run = Handle(steps, state, "handle", f"ref_count {operation} {others} {handles}",
                     lambda site, s: s.count, lambda run, others=others: run.another_acts(others))
        yield run.line_of(operation)


def model_lines(tables):
    for lines in (word_lines, handle_lines, lot_lines, table_lines):
        yield from lines(tables)


def main(program, tables):
    try:
        model = list(model_lines(read_tables(tables)))
        done = subprocess.run([pathlib.Path(program).resolve()], capture_output=True, text=True, timeout=LIMIT_S)
    except Endless as error:
        sys.exit(f"protocol_steps.py: {error}")
    except subprocess.TimeoutExpired:
        sys.exit(f"protocol_steps.py: {program} has not ended in {LIMIT_S} s")
    if done.returncode != 0:
        sys.exit(f"protocol_steps.py: {program} failed:\n{done.stderr or done.stdout[-2000:]}")
    code = done.stdout.splitlines()
    if code == model:
        print(f"{len(code)} runs of operations, with equal steps in the code and in the model")
        return 0
    differences = list(difflib.unified_diff(code, model, "the C++ code", "the model", n=0, lineterm=""))
    print(*differences[:60], sep="\n")
    print(f"the code and the model differ, in {len(differences)} lines of a diff")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)
