#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints what the transitions of the proofs do from each small state, step by step, as steps/ does of the
shipped code: one line per operation, interference and state. spin/check_table.py compares the two."""

import pathlib
import sys

import attachment
import pin_count
import ref_count
from code_tables import read_tables
from counter_steps import counter_lines
from lock_steps import lock_lines
from lock_table_steps import table_lines
from lot_steps import lot_lines
from runs import Endless, Run, start_of, steps_of
from shadow_steps import family_lines, record_lines


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


class Pins(Run):
    """Of the count of pins. Who adds another to read finds one, and then none or those that are there."""

    REST, RELEASE, ADD, FAIL = OTHERS = range(4)
    FEWEST = {"add": 0, "add_another": 0, "drop": 1, "any": 0}

    def another_acts(self, others):
        if others == self.RELEASE:
            self.another("release")
        elif others == self.ADD:
            self.another("pin to read: there is a pin", "pin to read: add another")

    def add(self):
        self.visit("add", "pin")
        return 0

    def drop(self):
        self.place = "holder"
        self.visit("drop", "release")
        return 0

    def any(self):
        return int(not self.visit("any", "share: there is no pin"))

    def add_another(self):
        self.visit("any", "share: there is no pin", "pin to read: there is a pin")
        while self.place == "looker":
            seen = self.found.but(looker=1)
            if self.visit("add_another", "pin to read: add another", seen=seen, fields=("pins",)):
                return 1
            self.visit("any", "pin to read: the last was released")
        return 0


def pin_lines(tables):
    steps = steps_of(pin_count, tables)
    for operation, fewest in Pins.FEWEST.items():
        for others in Pins.OTHERS:
            for step in range(1, 5):
                for pins in range(fewest, 4):
                    run = Pins(steps, start_of(pin_count, pins=pins, holder=pins), None,
                               f"pin_count {operation} {others} {step} {pins}", lambda site, s: s.pins,
                               lambda run, others=others: run.another_acts(others), step,
                               step if others == Pins.FAIL else 0)
                    yield run.line_of(operation)


class Slot(Run):
    """Of the slot of attachments. 1: it has its own there; 2: it found another's."""

    REST, ATTACH, SET_TAG, FAIL = OTHERS = range(4)
    EMPTY, TAGGED, ATTACHED = STARTS = range(3)
    FIRST_TAG = 7

    def another_acts(self, others):
        if others == self.ATTACH:
            if not self.state.attached and not self.state.locked:
                self.another("come", "add: lock", "add: unlock", "attach")
        elif others == self.SET_TAG:
            self.another("set_tag")

    def compare_exchange(self, site, name, seen):
        return self.visit(site, name, seen=seen, fields=("tagged", "attached"))

    def has_attachment(self):
        self.visit("peek", "peek")
        return self.found.attached

    def attachment(self):
        return int(bool(self.visit("find", "find")))

    def has_tag(self):
        self.visit("peek", "peek")
        return self.found.tagged

    def tag(self):
        return self.has_tag() * self.FIRST_TAG

    def set_tag(self):
        seen = start_of(attachment)
        while not self.compare_exchange("set_tag", "set_tag", seen):
            seen = self.found
            if not self.is_possible("set_tag", seen):
                break
        return 0

    def attach_first(self):
        return self.attach(has_room=False)

    def attach(self, has_room=True):
        if self.visit("find", "find"):
            return 2
        self.take("come")
        self.visit("lock", "add: lock")
        if not has_room:
            self.visit("unlock", "add: no room, which is made while nothing is locked")
            self.visit("lock", "add: lock")
        self.visit("unlock", "add: unlock")
        seen = self.state.but(tagged=0, attached=0)
        while not self.compare_exchange("attach", "attach", seen):
            seen = self.found
            if self.is_possible("attach: another was first", seen):
                self.take("attach: another was first")
                self.visit("lock", "remove: lock")
                self.visit("unlock", "remove: unlock")
                return 2
        return 1


def slot_text(site, state):
    return state.locked if site in ("lock", "unlock") else f"{state.tagged}.{state.attached}"


def slot_lines(tables):
    steps = steps_of(attachment, tables)
    rows = [("attach_first", Slot.REST, 1, Slot.EMPTY)]
    rows += [(operation, others, step, start)
             for operation in ("has_attachment", "attachment", "has_tag", "tag", "set_tag", "attach")
             for others in Slot.OTHERS for step in range(1, 8) for start in Slot.STARTS]
    for operation, others, step, start in rows:
        tagged, attached = int(start == Slot.TAGGED), int(start == Slot.ATTACHED)
        state = start_of(attachment, tagged=tagged, marked=tagged, attached=attached,
                         put=attached, made=attached)
        run = Slot(steps, state, None, f"attachment {operation} {others} {step} {start}",
                   slot_text, lambda run, others=others: run.another_acts(others), step,
                   step if others == Slot.FAIL else 0)
        yield f"{run.line_of(operation)} {run.state.made}"


LINES = (handle_lines, pin_lines, slot_lines, family_lines, record_lines, counter_lines, lot_lines,
         table_lines, lock_lines)


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
