# SPDX-License-Identifier: BSL-1.0
"""What core's tables say of a protocol: its steps, orders and numbers, as they ship or in one mutant."""

import json
import pathlib
import subprocess
from dataclasses import dataclass

from terms import choose

ORDERS = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")


@dataclass(frozen=True)
class Mutant:
    """A row of a table, done wrong."""

    row: str
    change: str  # an order, or what is done to the step or the number

    @property
    def name(self):
        return f"{self.row}:{self.change}"


def read_tables(program):
    """The tables of the program that is built from tables.cpp."""
    tables = json.loads(subprocess.run([pathlib.Path(program).resolve()], capture_output=True,
                                       check=True).stdout)
    tables["mutants"] = [Mutant(*name.split(":")) for name in tables["mutants"]]
    return tables


class Code:
    """The rows whose names begin with this, and are asked for without it."""

    def __init__(self, tables, prefix, mutant=None):
        self.prefix, self.mutant = prefix, mutant
        self.sites, self.constants = tables["sites"], dict(tables["constants"])
        if mutant and mutant.row in self.constants:
            old = self.constants[mutant.row]
            self.constants[mutant.row] = {"plus-one": old + 1, "minus-one": old - 1, "zero": 0}[mutant.change]

    def constant(self, name):
        return self.constants[self.prefix + name]

    def change(self, site):
        """Of the step at the site; None if it is right."""
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
        """What is added to its operand by mistake."""
        return {"plus-one": 1, "minus-one": -1}.get(self.change(site), 0)

    def is_atomic_step(self, site):
        return self.sites[self.prefix + site]["operation"] not in ("lock", "unlock", "park", "unpark")


# Release sequences, counted: of those that left, whose last steps an acquire of the count still sees.
# Of those that left: who may have used what is counted.
DEPARTURES = {
    "departed": "all of them",
    "released": "which an acquire of the count as it is now synchronizes with",
    "known": "which happened before all that its present users do",
    "missed": "which somebody alone has not synchronized with",
}


def leaves(code, state, site):
    """All that it did happens before what follows an acquire of the count, if its step releases. The steps
    after it are read-modify-writes, which go on with the sequence."""
    state = state.updated(departed=state.departed + 1)
    return state.updated(released=state.released + 1) if code.releases(site) else state


def enters_alone(code, state, site):
    seen = state.known + (state.released if code.acquires(site) else 0)
    return state.updated(missed=state.missed + (state.departed - seen))


def ends_sequences(state, was_alone, before):
    """A plain store: nobody can acquire what was released before. But who stores happens after it, and who
    comes later comes by it, if it was the only one."""
    return state.updated(released=state.released * 0, known=state.known + choose(was_alone, before.released, 0))
