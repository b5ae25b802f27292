# SPDX-License-Identifier: BSL-1.0
"""The slot of a storage (core/byre/storage/detail/attachment.hpp): any number of threads attach, find and set
a tag at once; and the lock under which any number of storages take numbers and give them back."""

from code_tables import Code
from terms import both, either, equal, implies, ones
from transitions import System, Transition

PREFIX = "attachment."
PLACES = {
    "comer": "made an attachment, and is about to take a number",
    "taker": "read which number is free, under the lock",
    "attacher": "has its number, and is about to put it into the slot",
    "loser": "found another's in the slot: is about to give its number back",
    "giver": "gives its number back, under the lock",
}
# `tagged` and `attached`: what is in the slot, in which `marked` tags and `put` attachments were left.
# `made`: numbers that are given out. `torn`: attachments that somebody found before they were whole.
NUMBERS = (*PLACES, "tagged", "attached", "marked", "put", "made", "inside", "locked", "torn")
WORD = dict.fromkeys(("attach", "set_tag"), ("tagged", "attached"))


def system(tables, mutant=None):
    code = Code(tables, PREFIX, mutant)

    def is_empty(state):
        return equal(state.tagged + state.attached, 0)

    def put(state):
        state = state.but(put=state.put + 1)
        if code.is_left_out("attach"):
            return state
        return state.but(attached=state.attached * 0 + 1 + code.one_more("attach"), tagged=state.tagged * 0)

    def set_tag(state):
        state = state.but(marked=state.marked + 1)
        if code.is_left_out("set_tag"):
            return state
        return state.but(tagged=state.tagged * 0 + 1 + code.one_more("set_tag"), attached=state.attached * 0)

    def found(state):
        whole = code.acquires("find") and code.releases("attach")
        return state if whole else state.but(torn=state.torn + ones(state.attached >= 1))

    def lock(state):
        state = state.but(inside=state.inside + 1)
        return state if code.is_left_out("lock") else state.but(locked=state.locked + 1)

    def unlock(state):
        state = state.but(inside=state.inside - 1)
        if code.is_left_out("unlock") or code.is_left_out("lock"):
            return state
        return state.but(locked=state.locked - 1)

    def may_lock(state):
        return True if code.is_left_out("lock") else equal(state.locked, 0)

    def step(name, sites, start, end, guard=lambda s: True, effect=lambda s: s):
        return Transition(name, tuple(sites.split()), start, end, guard, effect)

    return System(
        dict.fromkeys(NUMBERS, "Int"),
        lambda s: both(*(equal(getattr(s, name), 0) for name in NUMBERS)),
        {
            "numbers are naturals": lambda s: both(*(getattr(s, name) >= 0 for name in NUMBERS)),
            "the slot holds one thing": lambda s: s.tagged + s.attached <= 1,
            "what has a tag keeps it, or has an attachment": lambda s: implies(s.marked >= 1,
                                                                               s.tagged + s.attached >= 1),
            "what was attached stays": lambda s: equal(s.attached, s.put),
            "every number is in the slot, or somebody's": lambda s: equal(s.made,
                                                                          s.attached + s.attacher + s.loser
                                                                          + s.giver),
            "one takes a number at a time": lambda s: s.inside <= 1,
            "who takes or gives a number is inside": lambda s: equal(s.inside, s.taker + s.giver),
            "the lock is held by who is inside": lambda s: equal(s.locked, s.inside),
            "what is found is whole": lambda s: equal(s.torn, 0),
        },
        (
            step("come", "", None, "comer"),
            step("find", "find", None, None, lambda s: s.attached >= 1, found),
            step("peek", "peek", None, None),
            step("add: lock", "lock", "comer", "taker", may_lock, lock),
            step("add: no room, which is made while nothing is locked", "unlock", "taker", "comer", effect=unlock),
            step("add: unlock", "unlock", "taker", "attacher",
                 effect=lambda s: unlock(s).but(made=s.made + 1)),
            step("attach", "attach", "attacher", None, lambda s: equal(s.attached, 0), put),
            step("attach: another was first", "attach", "attacher", "loser", lambda s: s.attached >= 1),
            step("remove: lock", "lock", "loser", "giver", may_lock, lock),
            step("remove: unlock", "unlock", "giver", None,
                 effect=lambda s: unlock(s).but(made=s.made - 1)),
            step("set_tag", "set_tag", None, None, is_empty, set_tag),
        ),
        {
            "the lock is free, or somebody gives it back": lambda s: either(
                may_lock(s), s.taker + s.giver >= 1),
            "an attachment is there once somebody attached": lambda s: implies(s.put >= 1,
                                                                               equal(s.attached, 1)),
        },
        {
            "a thousand attach at once": lambda s: both(equal(s.attacher, 1000), equal(s.tagged, 1)),
            "a hundred lost": lambda s: both(equal(s.loser, 100), equal(s.attached, 1)),
        },
    )
