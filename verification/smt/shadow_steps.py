# SPDX-License-Identifier: BSL-1.0
"""The steps of the generations and of the records of writes, as protocol_steps.py prints them."""

import generation
import write_records
from runs import Run, start_of, steps_of


class Family(Run):
    """Of the generations."""

    REST, WRITE, OBSERVE, FORGET, FAIL = OTHERS = range(5)
    VARIABLE = {"observe": "observed", "leave_unread": "unread", "forget_unread": "unread",
                "load_last": "last", "load_last_again": "last", "write": "last"}
    failures = ("write: too late",)
    given = 0  # a write that the operation is told of

    def another_acts(self, others):
        if others == self.WRITE:
            self.another("another family writes")
        elif others == self.FORGET:
            self.another("another read leaves nothing unread")
        elif others == self.OBSERVE and self.state.last > self.state.observed:
            self.state = self.state.but(some=self.state.last)
            self.another("another read is told", "another read observes")

    def look(self):
        self.visit("load_last", "look")
        self.visit("observed", "look: stale", "look: not stale")

    def answer(self):
        return self.state.found if self.place in ("told", "reminded") else "-"

    def stale(self):
        self.look()
        return self.answer()

    def stale_or_unread(self):
        self.look()
        if self.place == "calm":
            self.visit("unread", "look: something is unread", "look: nothing is unread")
        return self.answer()

    def observe(self):
        self.visit("observe", "write: observe what it was told of")
        return self.given

    def observe_by_reading(self):
        self.visit("observed", *(f"read: {self.place} of {which} later write" for which in ("a", "no")))
        if self.place == "observing":
            self.visit("observe", "read: observe")
        self.visit("forget_unread", "read: nothing is unread")
        return self.given

    def leave_unread(self):
        self.visit("leave_unread", "write: leave it unread")
        return self.given

    def forget_unread(self):
        self.visit("forget_unread", "write: over all that was unread")
        return "-"

    def write(self):
        known = self.state.observed
        self.visit("observed", "write: begin")
        self.note(f"supersedes {self.state.found}")
        while self.place == "writing":
            self.visit("write", "write", "write: too late", seen=self.state)
            if self.place == "late":
                self.visit("load_last_again", "write: load again")
                self.note(f"supersedes {self.state.found}")
        found = self.state.found
        self.visit("observe", "write: observe")
        return "-" if found == known else found

    def reshape(self):
        """The new family loads what the old one has, which is nothing that the old one does."""
        self.visit("observed", "a reshape makes a family of it")
        observed = self.found.observed
        self.visit("unread", "a reshape makes a family of it")
        return f"{observed} {self.found.unread}"


# Where a family is that an operation is of; and those of which it is told a write.
FAMILY_PLACES = {"observe": "told", "observe_by_reading": "told"}
TOLD = ("observe", "observe_by_reading", "leave_unread")


def family_lines(tables):
    steps = steps_of(generation, tables)
    for operation in ("stale", "stale_or_unread", "observe", "observe_by_reading", "leave_unread",
                      "forget_unread", "write", "reshape"):
        for others in Family.OTHERS:
            if operation == "write" and others in (Family.OBSERVE, Family.FORGET):
                continue
            for step in range(1, 5):
                for start in families(operation in TOLD):
                    yield family_line(steps, operation, others, step, *start)


def families(is_told):
    for last in range(4):
        for observed in range(last + 1):
            for unread in range(last + 1):
                for given in range(1, last + 1) if is_told else (0,):
                    yield last, observed, unread, given


def family_line(steps, operation, others, step, last, observed, unread, given):
    place = FAMILY_PLACES.get(operation, "resting")
    if operation == "observe_by_reading" and given == unread:
        place = "reminded"
    state = start_of(generation, last=last, writes=last, observed=observed, knows=observed, unread=unread,
                     owes=unread, heard=last, found=given, some=given, **{place: 1})
    run = Family(steps, state, place,
                 f"generation {operation} {others} {step} {last} {observed} {unread} {given}",
                 lambda site, s: getattr(s, Family.VARIABLE.get(site, site)),
                 lambda run: run.another_acts(others), step, step if others == Family.FAIL else 0)
    run.given = given
    return run.line_of(operation)


class Record(Run):
    """Of the records of writes: the one in question, of which up to the fourth write are superseded."""

    REST, ADD_EQUAL, ADD_ANOTHER, SUPERSEDE_FIRST, SUPERSEDE_LAST, FAIL = range(6)
    LAST_WRITE = 4

    def another_acts(self, others):
        if others == self.ADD_EQUAL:
            self.another("find: it is not there", "push")
        elif others == self.ADD_ANOTHER:
            self.another("another record is pushed")
        elif others in (self.SUPERSEDE_FIRST, self.SUPERSEDE_LAST):
            self.state = self.state.but(some=1 if others == self.SUPERSEDE_FIRST else self.LAST_WRITE)
            self.another("supersede late")

    def find_or_add(self):
        while self.visit("load_first", "find: it is not there"):
            seen = self.found.but(searcher=1)
            while self.place == "searcher":
                if self.visit("push", "push", seen=seen, fields=("linked",)):
                    return f"1 {self.state.linked} {self.state.equals}"
                if self.found.linked != seen.linked:
                    self.place = None  # it has to look again
        return f"0 {self.state.linked} {self.state.equals}"

    def supersede(self, write, by_itself):
        if write == 0 or by_itself:
            return "-"
        self.visit("load_first", "find: look")
        self.visit("superseded")
        late = self.steps["supersede late"]
        while late.after(seen := self.found.but(some=write)).keeps != seen.keeps:
            self.state = self.state.but(some=write)
            if self.visit("supersede", "supersede late", seen=seen, fields=("keeps",)):
                break
        return "-"

    def for_each_between(self, observed, last):
        self.visit("load_first")
        self.visit("superseded", "look at what it keeps")
        is_visited = write_records.is_visited(self.found, observed, last)
        return f"{self.found.keeps} 1" if is_visited else "-"


def record_run(steps, line, others, step, **values):
    return Record(steps, start_of(write_records, **values), None, line,
                  lambda site, s: s.keeps if site.startswith("supersede") else s.linked,
                  lambda run: run.another_acts(others), step, step if others == Record.FAIL else 0)


def record_lines(tables):
    steps = steps_of(write_records, tables)
    for others in (Record.REST, Record.ADD_EQUAL, Record.ADD_ANOTHER, Record.FAIL):
        for step in range(1, 5):
            for before in range(3):
                for equals in range(2):
                    for after in range(2):
                        linked = before + equals + after
                        line = f"write_records find_or_add {linked} {equals} {others} {step}"
                        run = record_run(steps, line, others, step, linked=linked, pushes=linked,
                                         equals=equals)
                        yield run.line_of("find_or_add")
    for others in (Record.REST, Record.SUPERSEDE_FIRST, Record.SUPERSEDE_LAST, Record.FAIL):
        for step in range(1, 5):
            for keeps in range(Record.LAST_WRITE):
                yield from superseded_lines(steps, others, step, keeps)


def superseded_lines(steps, others, step, keeps):
    writes = range(Record.LAST_WRITE + 1)
    asked = [("supersede", write, by) for write in writes for by in (1, 2)]
    asked += [("for_each_between", observed, last) for observed in writes
              for last in range(observed, Record.LAST_WRITE + 2)]
    for operation, first, second in asked:
        line = f"write_records {operation} {first} {second} {keeps} {others} {step}"
        run = record_run(steps, line, others, step, linked=1, pushes=1, equals=1, keeps=keeps, kept=keeps,
                         latest=Record.LAST_WRITE, last=Record.LAST_WRITE + 1)
        yield run.line_of(operation, first, second == 1 if operation == "supersede" else second)
