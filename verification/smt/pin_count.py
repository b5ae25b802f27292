# SPDX-License-Identifier: BSL-1.0
"""The count of a storage's pins (core/byre/storage/detail/pin_count.hpp): any number of threads pin it to read,
clone it and release pins at once. A pin to write is a write, and excludes the first two."""

from code_tables import Code
from departures import DEPARTURES, enters_alone, leaves
from terms import both, either, equal, implies
from transitions import System, Transition

PREFIX = "pin_count."
PLACES = {
    "holder": "has a pin, by whose pointer the data may be written",
    "looker": "found a pin, and is about to add another",
}
# `shares`: of the data as it is, made by clones and by pins to read that found no pin.
NUMBERS = ("pins", "shares", *PLACES, *DEPARTURES)
WORD = dict.fromkeys(("add", "add_another", "drop"), ("pins",))


def system(tables, mutant=None):
    code = Code(tables, PREFIX, mutant)

    def changed(state, site, by):
        if code.is_left_out(site):
            return state
        return state.but(pins=state.pins + by * (1 + code.one_more(site)))

    def share(state):
        """After all that was written by pointers."""
        return enters_alone(code, state, "any").but(shares=state.shares + 1)

    def no_shares(state):
        return state.but(shares=state.shares * 0)

    def is_quiet(state):
        return equal(state.looker, 0)

    def step(name, sites, start, end, guard=lambda s: True, effect=lambda s: s):
        return Transition(name, tuple(sites.split()), start, end, guard, effect)

    return System(
        dict.fromkeys(NUMBERS, "Int"),
        lambda s: both(*(equal(getattr(s, name), 0) for name in NUMBERS)),
        {
            "numbers are naturals": lambda s: both(*(getattr(s, name) >= 0 for name in NUMBERS)),
            "pins are counted": lambda s: equal(s.pins, s.holder),
            "what is pinned is not shared": lambda s: implies(s.holder >= 1, equal(s.shares, 0)),
            "every departure is known or can be acquired": lambda s: equal(s.departed, s.released + s.known),
            "who shares comes after all writes by pointers": lambda s: equal(s.missed, 0),
        },
        (
            # It has copied what others share, or took it as their last.
            step("pin", "add", None, "holder", is_quiet, lambda s: changed(no_shares(s), "add", 1)),
            step("release", "drop", "holder", None,
                 effect=lambda s: leaves(code, changed(s, "drop", -1), "drop")),
            step("share: there is no pin", "any", None, None, lambda s: equal(s.pins, 0), share),
            step("pin to read: there is a pin", "any", None, "looker", lambda s: s.pins >= 1),
            step("pin to read: add another", "add_another", "looker", "holder", lambda s: s.pins >= 1,
                 lambda s: changed(s, "add_another", 1)),
            step("pin to read: the last was released", "any", "looker", None, lambda s: equal(s.pins, 0),
                 share),
            step("write", "", None, None, is_quiet, no_shares),
            step("the last share ends", "", None, None, lambda s: s.shares >= 1,
                 lambda s: s.but(shares=s.shares - 1)),
        ),
        {"who may write by a pointer writes what is his alone": lambda s: either(equal(s.holder, 0), equal(s.shares, 0))},
        {
            "a thousand pins, and one is added": lambda s: both(equal(s.holder, 1000), equal(s.looker, 1)),
            "shared after a thousand pins": lambda s: both(equal(s.shares, 7), equal(s.released, 1000),
                                                           equal(s.looker, 2)),
        },
    )
