# SPDX-License-Identifier: BSL-1.0
"""The reference count (core/byre/sync/detail/ref_count.hpp) with any number of handles. A handle is exclusive after
it has found that no other handle exists."""

from code_tables import DEPARTURES, Code, enters_alone, leaves
from terms import both, equal, implies, negated
from transitions import System, are_naturals, step

PREFIX = "ref_count."
HANDLES = {
    "handle": "may use the object, and copy the handle",
    "sole": "found that it is the only handle, and relies on that",
    "ender": "found that it is the only handle, and is about to store that no handle is left",
}
NUMBERS = ("count", *HANDLES, "destroyer", "destroyed", *DEPARTURES)
WORD = {"add": ("count",), "drop": ("count",)}


def system(tables, mutant=None):
    code = Code(tables, PREFIX, mutant)

    def is_last(state):
        return equal(state.count, code.constant("last_handle"))

    def changed(state, site, by):
        if code.is_left_out(site):
            return state
        return state.updated(count=state.count + by * (1 + code.operand_error(site)))

    def end(state):
        return state if code.is_left_out("end") else state.updated(count=state.count * 0 + code.operand_error("end"))

    def of_object(step):
        return step.updated(needs={"the object exists": lambda s: equal(s.destroyed, 0)}) if step.sites else step

    return System(
        dict.fromkeys(NUMBERS, "Int"),
        lambda s: both(*(equal(getattr(s, name),
                               1 if name in ("count", "handle") else 0) for name in NUMBERS)),
        {
            "numbers are naturals": are_naturals(NUMBERS),
            "handles are counted": lambda s: equal(s.count, s.handle + s.sole + s.ender),
            "an exclusive handle is the only one": lambda s: implies(s.sole + s.ender >= 1, equal(s.count, 1)),
            "no thread destroys an object in use": lambda s: implies(s.count >= 1,
                                                              equal(s.destroyer + s.destroyed, 0)),
            "one thread destroys an unused object": lambda s: implies(equal(s.count, 0),
                                                               equal(s.destroyer + s.destroyed, 1)),
            "every departure is known or can be acquired": lambda s: equal(s.departed, s.released + s.known),
            "an exclusive handle has acquired every departure": lambda s: equal(s.missed, 0),
        },
        tuple(of_object(step) for step in (
            step("add", "add", "handle", "handle",
                 effect=lambda s: changed(s, "add", 1).updated(handle=s.handle + 1)),
            step("count: alone", "count", "handle", "sole", lambda s: equal(s.count, 1),
                 lambda s: enters_alone(code, s, "count")),
            step("drop: alone", "count", "handle", "ender", is_last,
                 lambda s: enters_alone(code, s, "count")),
            step("drop: end", "end", "ender", "destroyer", effect=end),
            step("drop", "drop", "handle", None, lambda s: negated(is_last(s)),
                 lambda s: leaves(code, changed(s, "drop", -1), "drop")),
            step("drop, the last", "drop", "handle", "destroyer", is_last,
                 lambda s: enters_alone(code, changed(s, "drop", -1), "drop")),
            step("end of being alone", "", "sole", "handle"),
            step("destroy", "", "destroyer", None, effect=lambda s: s.updated(destroyed=s.destroyed + 1)),
        )),
        {"nothing is destroyed twice": lambda s: s.destroyed + s.destroyer <= 1},
        {
            "a thousand handles": lambda s: equal(s.handle, 1000),
            "an exclusive handle after 1000 departures": lambda s: both(equal(s.sole, 1), equal(s.released, 1000)),
            "destroyed": lambda s: equal(s.destroyed, 1),
        },
    )
