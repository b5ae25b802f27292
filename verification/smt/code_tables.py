# SPDX-License-Identifier: BSL-1.0
"""The steps, orders and numbers of a protocol, read from core's tables: as shipped, or changed by one mutant."""

import json
import pathlib
import subprocess
from dataclasses import dataclass

from terms import choose

ORDERS = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")


@dataclass(frozen=True)
class Mutant:
    """One wrong row of a table."""

    row: str
    change: str  # an order, a change of the step or of the number, or a wrong form that the proof defines

    @property
    def name(self):
        return f"{self.row}:{self.change}"


def read_tables(program):
    """The tables that the program built from tables.cpp prints."""
    tables = json.loads(subprocess.run([pathlib.Path(program).resolve()], capture_output=True,
                                       check=True).stdout)
    tables["mutants"] = [Mutant(*name.split(":")) for name in tables["mutants"]]
    return tables


class Code:
    """The rows whose names begin with `prefix`. Callers name rows without the prefix."""

    def __init__(self, tables, prefix, mutant=None):
        self.prefix, self.mutant = prefix, mutant
        self.sites, self.constants = tables["sites"], dict(tables["constants"])
        if mutant and mutant.row in self.constants:
            old = self.constants[mutant.row]
            self.constants[mutant.row] = {"plus-one": old + 1, "minus-one": old - 1, "zero": 0}[mutant.change]

    def constant(self, name):
        return self.constants[self.prefix + name]

    def change(self, site):
        """The change of the step at the site; None if it is not mutated."""
        is_changed = self.mutant and self.mutant.row == self.prefix + site
        return self.mutant.change if is_changed else None

    def order(self, site):
        change = self.change(site)
        return change if change in ORDERS else self.sites[self.prefix + site]["order"]

    def acquires(self, site):
        return self.order(site) in ("acquire", "acq_rel", "seq_cst")

    def releases(self, site):
        return self.order(site) in ("release", "acq_rel", "seq_cst")

    def is_left_out(self, site):
        return self.change(site) == "left-out"

    def operand_error(self, site):
        """The number that a mutant adds to the operand."""
        return {"plus-one": 1, "minus-one": -1}.get(self.change(site), 0)

    def is_atomic_step(self, site):
        return self.sites[self.prefix + site]["operation"] not in ("lock", "unlock", "park", "unpark")


# The models represent release sequences by numbers of departures. A departure is the event that a thread stops
# using the counted object. An exclusive thread has found that no other thread uses the object.
DEPARTURES = {
    "departed": "all departures",
    "released": "departures that an acquire of the current value synchronizes with",
    "known": "departures that happened before all that the present users do",
    "missed": "departures that an exclusive thread has not synchronized with",
}


def leaves(code, state, site):
    """The thread departs. If its step releases, all that the thread did happens before all that follows a later
    acquire of the count: the steps in between are read-modify-writes, which continue the release sequence."""
    state = state.updated(departed=state.departed + 1)
    return state.updated(released=state.released + 1) if code.releases(site) else state


def enters_alone(code, state, site):
    """The thread finds that it is exclusive. It misses the departures that its step does not synchronize with."""
    seen = state.known + (state.released if code.acquires(site) else 0)
    return state.updated(missed=state.missed + (state.departed - seen))


def ends_sequences(state, was_alone, before):
    """A plain store ends the release sequences: later acquires do not synchronize with earlier releases. But if the
    storing thread was exclusive, it has acquired these releases, and all later users get the object from it."""
    return state.updated(released=state.released * 0, known=state.known + choose(was_alone, before.released, 0))
