#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares the steps of the shipped code with the transitions of the proofs, from each small state. Both are lines
of text, one for each operation, interference (the steps that other threads take meanwhile) and state. The program
built from steps/ prints the lines of the code.

usage: protocol_steps.py PROTOCOL_STEPS PROTOCOL_TABLES
Prints the differences. Exit status: 0 if there are none, else 1."""

import difflib
import itertools
import pathlib
import subprocess
import sys

import ref_count
from atomic_slot_steps import slot_lines
from bucket_steps import lot_lines, table_lines
from code_tables import read_tables
from runs import Endless, Run, start_of, steps_of
from share_word import FIELDS, ShareWord
from share_word_in_order import NUMBERS
from share_word_in_order import transitions as transitions_in_order
from share_word_proof import transitions
from transitions import State

LIMIT_S = 120
QUIET, ANOTHER_CLONES, A_COPY_FAILS, COPIES_JUST_ENDED = range(4)
MOST = 5  # the limit of owners and of copies
SEVERAL = 2  # the owners in a step that adds or removes several


def text(word):
    return f"{word.owners}.{word.waiting:d}.{word.copies}.{word.read_only:d}"


class Thread(Run):
    """One thread of the model."""

    def __init__(self, steps, start, interference, place, line):
        state = State({**dict.fromkeys(NUMBERS, 0), **vars(start), "owner": start.owners,
                       "copier": start.copies, "several": SEVERAL})
        clones = Thread.another_clones if interference == ANOTHER_CLONES else None
        super().__init__(steps, state, place, line, lambda site, word: text(word), clones)
        self.interference = interference

    def another_clones(self):
        self.state = self.state.updated(owners=self.state.owners + 1)

    def compare_exchange(self, site, *names, seen):
        return self.visit(site, *names, seen=seen, fields=FIELDS)

    # The operations, as sequences of sites.

    def drop_owner(self):
        if not self.visit("drop_alone", "drop_alone"):
            self.visit("drop_owner", "drop_owner", "drop_owner, the last")

    def claim(self, copies):
        while self.place in ("owner", "waiter"):
            now = self.state
            if self.visit("load_state", "claim: steal", "claim: steal after a wait"):
                if self.place == "storer":
                    self.visit("stop_waiting", "claim: stop waiting")
            elif any(self.is_possible(name, now) for name in copies):
                self.compare_exchange("claim_copy", *copies, seen=now)
            elif self.place == "waiter" or self.compare_exchange("announce_wait", "claim: announce a wait", seen=now):
                self.park()

    def park(self):
        self.note("park")
        if self.interference == COPIES_JUST_ENDED:
            self.state = self.state.updated(copies=0)
        if self.visit("still_pending", "park: copies are pending"):
            self.take("park: sleep")
            if self.interference == A_COPY_FAILS:
                self.state = self.state.updated(owners=self.state.owners + 1, copies=self.state.copies - 1)
            else:
                self.state = self.state.updated(copies=0)
            self.take("park: wake up spuriously")

    def claim_or_wait(self):
        self.claim(("claim: copy", "claim: copy after a wait"))

    def claim_at_once(self):
        self.claim(("claim: copy and never wait",))

    def claim_in_order(self):
        self.take("in order: take the turn")
        while self.place == "claimer":
            now = self.state
            if not self.visit("load_in_order", "claim in order: steal"):
                self.compare_exchange("claim_copy", "claim in order: copy", seen=now)

    def finish_copy(self):
        self.visit("finish_copy", "finish_copy", "finish_copy, the last")
        for _ in range(self.state.waker):
            self.note("wake_after_copy")

    def abandon_copy(self):
        self.visit("abandon_copy", "abandon_copy")
        for _ in range(self.state.waker):
            self.note("wake_after_abandon")


OPERATIONS = (
    ("owner", ("add_owner", "add_owners", "drop_owners", "drop_owner", "is_writable", "is_unique", "claim_or_wait", "claim_at_once",
               "claim_in_order")),
    ("copier", ("finish_copy", "abandon_copy", "is_sole_copier", "add_copy")),
)
# The places at which a thread is after an operation that returned true.
YES = ("writer", "orderer", "relier", "restorer", "leaver", "freer")


def word_lines(tables):
    # Callers must not claim read-only data. The code does not check this, so it claims such data like other data.
    word = ShareWord(tables)
    steps = {step.name: step
             for step in (*transitions(word, lambda state: True), *transitions_in_order(word, lambda state: True))}
    for place, operations in OPERATIONS:
        for operation, interference, start in itertools.product(operations, range(4), words(place)):
            if operation == "drop_owners" and start.owners <= SEVERAL:
                continue  # an owner has to remain
            thread = Thread(steps, start, interference, place, f"{operation} {interference} {text(start)}")
            # Most operations consist of one step, which has the operation's name.
            getattr(thread, operation, lambda: thread.visit(operation, operation))()
            yield f"{thread.line} = {thread.place in YES:d}"


def words(place):
    copies_of, owners_of = (range(place == counted, MOST + 1) for counted in ("copier", "owner"))
    for read_only, copies, waiting, owners in itertools.product((False, True), copies_of, (False, True), owners_of):
        yield State({"owners": owners, "waiting": waiting, "copies": copies, "read_only": read_only})


class Handle(Run):
    """One handle of the reference count."""

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
    for lines in (word_lines, slot_lines, handle_lines, lot_lines, table_lines):
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
