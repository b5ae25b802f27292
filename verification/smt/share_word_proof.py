# SPDX-License-Identifier: BSL-1.0
"""The share word and any number of threads that use it. The state counts the threads at each place. An exclusive
thread has found that no other thread owns or copies the data."""

from code_tables import DEPARTURES, ends_sequences, enters_alone, leaves
from share_word import FIELDS, ShareWord
from terms import both, either, equal, implies, negated, one_if
from transitions import System, all_equal, are_naturals, step

# A place is a control location of a thread, between operations or within one. At these places, the word counts the
# thread as an owner.
OWNERS = {
    "owner": "owns the data, and may read it; is between operations or at the start of one",
    "writer": "found that it is exclusive: writes in place",
    "relier": "found that it is exclusive: relies on that",
    "leaver": "found that it is exclusive: frees the data",
    "waiter": "has announced a wait, and loads the word",
    "checker": "found copies pending, and holds the lock of the parking lot's bucket",
    "sleeper": "is parked",
    "storer": "waited, stole, and is about to clear the waiting bit",
}
# At these places, the word does not count the thread as an owner. A thread that has departed is at no place, so it
# takes no transition.
OTHERS = {
    "copier": "a former owner that copies out of the data",
    "restorer": "a copier that found that no other user is counted: relies on that",
    "freer": "learned from its last step that no user remains: frees the data",
    "waker": "is about to pass through the lock of the bucket, and then to wake the waiter",
    "notifier": "has passed through the lock, and is about to notify",
}
PLACES = [*OWNERS, *OTHERS]
WAITERS = ("waiter", "checker", "sleeper", "storer")
ALONE = ("writer", "relier", "leaver", "storer")
NUMBERS = ["owners", "copies", *PLACES, "freed", *DEPARTURES]
OTHER_NUMBERS = [name for name in NUMBERS if name not in ("owners", "owner")]
STEPS = ("add_owner", "add_owners", "drop_owners", "drop_owner", "claim_copy", "announce_wait", "finish_copy",
         "abandon_copy", "add_copy")
WORD = dict.fromkeys(STEPS, FIELDS)
# `several` is the number of owners in a step that adds or removes several. No invariant limits it, so it may differ
# from step to step.
SORTS = {**dict.fromkeys([*NUMBERS, "several"], "Int"), "waiting": "Bool", "read_only": "Bool"}


def sum_of(state, places):
    return sum((getattr(state, place) for place in places[1:]), getattr(state, places[0]))


class Users:
    """The effect of the word's steps on the threads that take them."""

    def __init__(self, word):
        self.word = word

    def drop(self, state):
        return leaves(self.word, self.word.drop_owner(state), "drop_owner")

    def drop_last(self, state):
        return enters_alone(self.word, self.word.drop_owner(state), "drop_owner")

    def finish(self, state):
        wakes = self.wakes(state, self.word.wakes_after_copy, "wake_after_copy")
        return leaves(self.word, self.word.finish_copy(wakes), "finish_copy")

    def finish_last(self, state):
        wakes = self.wakes(state, self.word.wakes_after_copy, "wake_after_copy")
        return enters_alone(self.word, self.word.finish_copy(wakes), "finish_copy")

    def abandon(self, state):
        return self.word.abandon_copy(self.wakes(state, self.word.wakes_after_abandon, "wake_after_abandon"))

    def wakes(self, state, condition, site):
        woken = one_if(condition(state)) if not self.word.is_left_out(site) else 0
        return state.updated(waker=state.waker + woken)


def is_claimed(state):
    """The requirement on the callers of a claim: the data is not read-only."""
    return negated(state.read_only)


def of_header(word, step):
    """Adds a need to a transition that has an atomic step: the header has to exist. Parking and waking do not need the
    header, since they use only its address."""
    touches = any(word.is_atomic_step(site) for site in step.sites)
    exists = {"I2 the header is there": lambda s: equal(s.freed, 0)} if touches else {}
    return step.updated(needs={**exists, **step.needs})


def transitions(word, may_be_claimed=is_claimed):
    users = Users(word)
    is_sole = word.is_sole_use
    owned = {"core asserts that there is an owner": lambda s: s.owners >= 1}
    copied = {"core asserts that there is a copy": lambda s: s.copies >= 1}
    alone = {"I7 a storing thread is the only user": is_sole}

    def never(s):
        return False

    parks = never if word.is_left_out("park") else word.has_to_wait
    in_a_claim = lambda s: both(negated(is_sole(s)), may_be_claimed(s))  # noqa: E731
    return tuple(of_header(word, step) for step in (
        step("add_owner", "add_owner", "owner", "owner",
             effect=lambda s: word.add_owner(s).updated(owner=s.owner + 1)),
        step("add_owners", "add_owners", "owner", "owner",
             effect=lambda s: word.add_owners(s, s.several).updated(owner=s.owner + s.several)),
        # The thread holds the owners that it removes, and one that remains.
        step("drop_owners", "drop_owners", "owner", "owner",
             effect=lambda s: word.drop_owners(s, s.several),
             needs={"core asserts that an owner remains": lambda s: s.owners >= s.several + 1},
             number=lambda s: s.several + 1),
        step("drop_alone", "drop_alone", "owner", "leaver", is_sole,
             lambda s: enters_alone(word, s, "drop_alone")),
        step("drop_owner", "drop_owner", "owner", None, lambda s: negated(is_sole(s)), users.drop, owned),
        step("drop_owner, the last", "drop_owner", "owner", "freer", is_sole, users.drop_last, owned),
        step("is_writable", "is_writable", "owner", "writer", word.may_be_written,
             lambda s: enters_alone(word, s, "is_writable")),
        step("is_unique", "is_unique", "owner", "relier", is_sole,
             lambda s: enters_alone(word, s, "is_unique")),
        step("claim: steal", "load_state", "owner", "writer",
             lambda s: both(is_sole(s), may_be_claimed(s)),
             lambda s: enters_alone(word, s, "load_state")),
        step("claim: steal after a wait", "load_state", "waiter", "storer", is_sole,
             lambda s: enters_alone(word, s, "load_state")),
        step("claim: stop waiting", "stop_waiting", "storer", "writer",
             effect=lambda s: ends_sequences(word.stop_waiting(s), is_sole(s), s), needs=alone),
        step("claim: copy", "claim_copy", "owner", "copier",
             lambda s: both(in_a_claim(s), word.goes_copying(s)), lambda s: word.claim_copy(s, False), owned),
        step("claim: copy and never wait", "claim_copy", "owner", "copier", in_a_claim,
             lambda s: word.claim_copy(s, False), owned),
        step("claim: copy after a wait", "claim_copy", "waiter", "copier",
             lambda s: both(in_a_claim(s), word.goes_copying(s)), lambda s: word.claim_copy(s, True), owned),
        step("claim: announce a wait", "announce_wait", "owner", "waiter",
             lambda s: both(in_a_claim(s), negated(word.goes_copying(s))), word.announce_wait, owned),
        step("park: copies are pending", "park still_pending", "waiter", "checker", parks),
        step("park: sleep", "park", "checker", "sleeper"),
        step("park: wake up spuriously", "park", "sleeper", "waiter"),
        step("finish_copy", "finish_copy wake_after_copy", "copier", None,
             lambda s: negated(word.is_last_copy(s)), users.finish, copied),
        step("finish_copy, the last", "finish_copy wake_after_copy", "copier", "freer",
             word.is_last_copy, users.finish_last, copied),
        step("is_sole_copier", "is_sole_copier", "copier", "restorer", word.is_last_copy,
             lambda s: enters_alone(word, s, "is_sole_copier")),
        step("add_copy", "add_copy", "copier", "copier",
             effect=lambda s: word.add_copy(s).updated(copier=s.copier + 1), needs=copied),
        step("abandon_copy", "abandon_copy wake_after_abandon", "copier", "owner",
             effect=users.abandon, needs=copied),
        # A wake needs no header. It uses only the address, which may be that of another header by now.
        step("wake: pass through the lock", "wake_after_copy wake_after_abandon", "waker", "notifier",
             lambda s: equal(s.checker, 0)),
        step("wake: notify", "wake_after_copy wake_after_abandon", "notifier", None,
             effect=lambda s: s.updated(waiter=s.waiter + s.sleeper, sleeper=s.sleeper * 0)),
        step("wake of another address", "wake_after_copy wake_after_abandon", None, "notifier"),
        # Steps of users that do not touch the word.
        step("end of a write", "", "writer", "owner"),
        step("end of being alone", "", "relier", "owner"),
        step("end of being the last copier", "", "restorer", "copier"),
        step("free", "", "freer", None, effect=lambda s: s.updated(freed=s.freed + 1)),
        # The word is freed together with the data, so the model counts the owner no longer.
        step("free, alone", "", "leaver", None,
             effect=lambda s: s.updated(freed=s.freed + 1, owners=s.owners - 1)),
    ))


def initial(state):
    return both(equal(state.owners, 1), equal(state.owner, 1), negated(state.waiting), state.several >= 1,
                all_equal(state, 0, OTHER_NUMBERS))


def is_blocked(state):
    """True while a waiter must not be released."""
    return both(equal(state.owners, 1), state.copies >= 1)


INVARIANTS = {
    "numbers are naturals": are_naturals(NUMBERS, lambda s: s.several >= 1),
    "I1 owners are counted": lambda s: equal(s.owners, sum_of(s, list(OWNERS))),
    "I1 copiers are counted": lambda s: equal(s.copies, s.copier + s.restorer),
    "I1 no thread frees data in use": lambda s: implies(s.owners + s.copies >= 1, equal(s.freer + s.freed, 0)),
    "I1 one thread frees unused data": lambda s: implies(equal(s.owners + s.copies, 0),
                                                       equal(s.freer + s.freed, 1)),
    "I3 the waiting bit is set if and only if one thread waits": lambda s: equal(
        sum_of(s, WAITERS), one_if(s.waiting)),
    "I4 I7 an exclusive owner is the only user": lambda s: implies(
        sum_of(s, ALONE) >= 1, both(equal(s.owners, 1), equal(s.copies, 0))),
    "a last copier is the only user": lambda s: implies(
        s.restorer >= 1, both(equal(s.owners, 0), equal(s.copies, 1))),
    "I5 every departure is known or can be acquired": lambda s: equal(s.departed, s.released + s.known),
    "I5 an exclusive user has acquired every departure": lambda s: equal(s.missed, 0),
    "a thread that is about to sleep has to wait, or will be woken": lambda s: implies(
        s.checker >= 1, either(is_blocked(s), s.waker >= 1)),
    "a sleeper has to wait, or will be woken": lambda s: implies(
        s.sleeper >= 1, either(is_blocked(s), s.waker + s.notifier >= 1)),
    "read-only data is not written or claimed": lambda s: implies(
        s.read_only, both(equal(s.writer + s.copies, 0), negated(s.waiting))),
}

ASSERTIONS = {
    "I4 no thread writes data that is copied": lambda s: negated(both(s.writer >= 1, s.copies >= 1)),
    "no other thread uses data that the last copier changes": lambda s: implies(
        s.restorer >= 1, equal(sum_of(s, [*OWNERS, "copier", "freer"]), 0)),
    "I5 no thread writes data that another owns": lambda s: implies(s.writer >= 1, equal(s.owners, 1)),
    "I5 no thread frees data that another owns or copies": lambda s: implies(
        s.freer + s.leaver >= 1, equal(s.owners + s.copies, s.leaver)),
    "I1 data is not freed twice": lambda s: s.freed + s.freer + s.leaver <= 1,
    "I1 unused data is freed": lambda s: implies(
        equal(sum_of(s, [*OWNERS, "copier", "restorer", "freer"]), 0), equal(s.freed, 1)),
}

SAMPLES = {
    "1000 owners and 7 copies": lambda s: both(equal(s.owners, 1000), equal(s.copies, 7), equal(s.freed, 0)),
    "a sleeper with two copies pending": lambda s: both(equal(s.sleeper, 1), equal(s.copies, 2)),
    "a sleeper that is about to be woken": lambda s: both(equal(s.sleeper, 1), equal(s.copies, 0),
                                                          equal(s.waker, 1)),
    "a sleeper that a failed copy made one of two owners": lambda s: both(
        equal(s.sleeper, 1), equal(s.owners, 2), equal(s.copies, 3)),
    "a writer after 1000 departures that it acquired": lambda s: both(
        equal(s.writer, 1), equal(s.released, 600), equal(s.known, 400)),
    "a hundred read-only owners": lambda s: both(s.read_only, equal(s.owners, 100)),
    "freed, with three wakes pending": lambda s: both(equal(s.freed, 1), equal(s.waker, 3)),
}


def system(tables, mutant=None):
    return System(SORTS, initial, INVARIANTS, transitions(ShareWord(tables, mutant)), ASSERTIONS, SAMPLES)
