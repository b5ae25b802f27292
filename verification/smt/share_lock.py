# SPDX-License-Identifier: BSL-1.0
"""The textbook form (core/byre/cow/detail/share_lock.hpp) and its users, however many: two counts, and a lock
that copies hold shared and a stealer takes exclusively."""

from code_tables import Code
from terms import both, equal, implies, negated
from transitions import System, Transition

PREFIX = "share_lock."
# Whom `owners` counts, and `users` too.
OWNERS = {
    "owner": "owns the data; between operations, or at the start of one",
    "adder": "counted a user more, and is about to count an owner more",
    "asker": "holds the lock shared, and asks whether it copies",
    "hasty": "the same, and may not wait, and is not alone",
    "single": "found no other owner, and is about to give the lock up",
    "stealer": "is about to take the lock exclusively",
    "judge": "holds it, and asks whether it is the last owner",
    "winner": "holds it, and is the last",
    "goer": "holds it, and is not",
    "writer": "was the last: writes in place",
    "relier": "found itself alone: relies on it",
    "abandoner": "owns again after a copy that failed, and still holds the lock shared",
}
# Whom `users` counts alone.
USERS = {
    "dropper": "no longer owns",
    "copier": "copies, and holds the lock shared",
    "finisher": "copied, and gave up the lock",
}
SHARED = ("asker", "hasty", "single", "copier", "abandoner")
EXCLUSIVE = ("judge", "winner", "goer")
PLACES = (*OWNERS, *USERS, "freer")
# `kept`: locks that were never given up. Of those that dropped, and of those that left as users: how many,
# and how many of these an acquire of the count synchronizes with. `missed`: whom somebody alone does not.
NUMBERS = ("owners", "users", *PLACES, "freed", "kept_shared", "kept", "dropped", "dropped_released", "left",
           "left_released", "missed")
WORD = {**dict.fromkeys(("add_owner", "drop_owner", "claim_copy", "abandon_copy"), ("owners",)),
        **dict.fromkeys(("add_user", "drop_user"), ("users",))}


def sum_of(state, places):
    return sum((getattr(state, place) for place in places[1:]), getattr(state, places[0]))


def system(tables, mutant=None):
    code = Code(tables, PREFIX, mutant)
    constant, without = code.constant, code.is_left_out

    def changed(state, site, count, by):
        if without(site):
            return state
        return state.but(**{count: getattr(state, count) + by * (1 + code.one_more(site))})

    def claim(state):
        if without("claim_copy"):
            return state
        return state.but(owners=state.owners - 1 + code.one_more("claim_copy"))

    def holders(state):
        """Of the lock, shared and exclusively."""
        shared = 0 if without("lock_copy") else sum_of(state, SHARED)
        exclusive = 0 if without("lock_steal") else sum_of(state, EXCLUSIVE)
        return shared + state.kept_shared, exclusive + state.kept

    def may_lock_shared(state):
        return True if without("lock_copy") else equal(holders(state)[1], 0)

    def may_lock(state):
        return True if without("lock_steal") else equal(sum(holders(state)), 0)

    def unlocked_shared(site):
        return lambda s: s.but(kept_shared=s.kept_shared + 1) if without(site) else s

    def unlocked(state):
        return state.but(kept=state.kept + 1) if without("unlock_steal") else state

    def drop(state):
        released = 1 if code.releases("drop_owner") else 0
        return changed(state, "drop_owner", "owners", -1).but(
            dropped=state.dropped + 1, dropped_released=state.dropped_released + released)

    def leave(state):
        released = 1 if code.releases("drop_user") else 0
        return changed(state, "drop_user", "users", -1).but(
            left=state.left + 1, left_released=state.left_released + released)

    def sees_who_left(state, site):
        seen = state.left_released if code.acquires(site) else 0
        return state.but(missed=state.missed + state.left - seen)

    def leave_last(state):
        return sees_who_left(changed(state, "drop_user", "users", -1), "drop_user")

    def win(state):
        seen = state.dropped_released if code.acquires("last_owner") else 0
        return state.but(missed=state.missed + state.dropped - seen)

    is_last = lambda s: equal(s.users, constant("last_user"))  # noqa: E731
    is_unique = lambda s: equal(s.users, constant("sole_user"))  # noqa: E731
    copies = lambda s: s.owners >= constant("owners_to_copy")  # noqa: E731
    steals = lambda s: equal(s.owners, constant("owners_to_steal"))  # noqa: E731
    hastily_copies = lambda s: s.owners >= constant("owners_never_to_wait")  # noqa: E731

    def step(name, sites, start, end, guard=lambda s: True, effect=lambda s: s):
        exists = {"the header is there": lambda s: equal(s.freed, 0)} if sites else {}
        return Transition(name, tuple(sites.split()), start, end, guard, effect, exists)

    return System(
        dict.fromkeys(NUMBERS, "Int"),
        lambda s: both(equal(s.owners, constant("first_owner")), equal(s.users, constant("first_user")),
                       equal(s.owner, 1), *(equal(getattr(s, name), 0) for name in NUMBERS
                                            if name not in ("owners", "users", "owner"))),
        {
            "numbers are naturals": lambda s: both(*(getattr(s, name) >= 0 for name in NUMBERS)),
            "who owns is counted": lambda s: equal(s.owners, sum_of(s, list(OWNERS))),
            "who uses is counted": lambda s: equal(s.users, sum_of(s, [*OWNERS, *USERS, "adder"])),
            "nobody frees what is used": lambda s: implies(s.users >= 1, equal(s.freer + s.freed, 0)),
            "one frees what is not used": lambda s: implies(equal(s.users, 0), equal(s.freer + s.freed, 1)),
            "locks are given up": lambda s: equal(s.kept + s.kept_shared, 0),
            "who holds the lock exclusively is alone with it": lambda s: implies(
                sum_of(s, EXCLUSIVE) >= 1, equal(sum_of(s, EXCLUSIVE) + sum_of(s, SHARED), 1)),
            "who writes is the only owner, and nobody copies": lambda s: implies(
                s.writer + s.winner >= 1, both(equal(s.owners, 1), equal(s.copier, 0))),
            "who relies on being alone is": lambda s: implies(s.relier >= 1, equal(s.users, 1)),
            "who dropped can be acquired": lambda s: equal(s.dropped, s.dropped_released),
            "who left can be acquired": lambda s: equal(s.left, s.left_released),
            "who is alone has acquired all": lambda s: equal(s.missed, 0),
        },
        (
            step("add: user", "add_user", "owner", "adder",
                 effect=lambda s: changed(s, "add_user", "users", 1)),
            step("add: owner", "add_owner", "adder", "owner",
                 effect=lambda s: changed(s, "add_owner", "owners", 1).but(owner=s.owner + 1)),
            step("drop: owner", "drop_owner", "owner", "dropper", effect=drop),
            *(transition for place in ("dropper", "finisher") for transition in (
                step(f"{place} leaves", "drop_user", place, None, lambda s: negated(is_last(s)), leave),
                step(f"{place} leaves, the last", "drop_user", place, "freer", is_last, leave_last))),
            step("is_unique", "is_unique", "owner", "relier", is_unique,
                 lambda s: sees_who_left(s, "is_unique")),
            step("end of being alone", "", "relier", "owner"),
            step("claim: lock", "lock_copy", "owner", "asker", may_lock_shared),
            step("claim: copy", "count_owners claim_copy", "asker", "copier", copies, claim),
            step("claim: is not alone, and may not wait", "is_unique", "asker", "hasty",
                 lambda s: negated(is_unique(s))),
            step("claim: copy and never wait", "count_owners claim_copy", "hasty", "copier", hastily_copies,
                 claim),
            step("claim: no other owner", "count_owners claim_copy", "asker", "single",
                 lambda s: negated(copies(s))),
            step("claim: unlock", "unlock_claim", "single", "stealer",
                 effect=unlocked_shared("unlock_claim")),
            step("steal: lock", "lock_steal", "stealer", "judge", may_lock),
            step("steal", "last_owner", "judge", "winner", steals, win),
            step("steal: unlock", "unlock_steal", "winner", "writer", effect=unlocked),
            step("steal: not the last", "last_owner", "judge", "goer", lambda s: negated(steals(s))),
            step("steal: unlock, and begin again", "unlock_steal", "goer", "owner", effect=unlocked),
            step("finish: unlock", "unlock_finish", "copier", "finisher",
                 effect=unlocked_shared("unlock_finish")),
            step("abandon: own again", "abandon_copy", "copier", "abandoner",
                 effect=lambda s: changed(s, "abandon_copy", "owners", 1)),
            step("abandon: unlock", "unlock_abandon", "abandoner", "owner",
                 effect=unlocked_shared("unlock_abandon")),
            step("end of a write", "", "writer", "owner"),
            step("free", "", "freer", None, effect=lambda s: s.but(freed=s.freed + 1)),
        ),
        {
            "nothing is freed twice": lambda s: s.freed + s.freer <= 1,
            "nobody steals while others copy": lambda s: negated(both(s.writer >= 1, s.copier >= 1)),
            "who asks is one of several, and copies": lambda s: implies(
                both(s.asker >= 1, s.owners >= 2), copies(s)),
            "the last owner does not copy where it may wait": lambda s: implies(
                both(s.asker >= 1, equal(s.owners, 1)), negated(copies(s))),
            "who may not wait, and is not alone, copies": lambda s: implies(s.hasty >= 1, hastily_copies(s)),
            "the last owner steals once copies ended": lambda s: implies(
                both(s.judge >= 1, equal(s.owners, 1)), steals(s)),
            "who is alone finds that it is": lambda s: implies(
                both(s.owner + s.asker >= 1, equal(s.users, 1)), is_unique(s)),
            "who leaves last finds that it does": lambda s: implies(
                both(s.dropper + s.finisher >= 1, equal(s.users, 1)), is_last(s)),
        },
        {
            "a thousand owners and 7 copies": lambda s: both(equal(s.owners, 1000), equal(s.copier, 7)),
            "a stealer that waits for two copies": lambda s: both(equal(s.stealer, 1), equal(s.copier, 2),
                                                                  equal(s.owners, 1)),
            "a writer, while others leave": lambda s: both(equal(s.writer, 1), equal(s.finisher, 5)),
        },
    )
