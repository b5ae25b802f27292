# SPDX-License-Identifier: BSL-1.0
"""A bucket of the table of locks (core/byre/sync/detail/basic_lock_table.hpp): one address, with any number of
threads that want its lock unless the work is done; and any number that lock others of the bucket."""

from bucket import Bucket
from code_tables import Mutant
from terms import both, choose, either, equal, implies
from transitions import Ranking, System, all_equal, are_naturals, step

PLACES = {
    "comer": "is about to lock the bucket",
    "looker": "holds the bucket, and is about to look who holds the address",
    "waiter": "holds the bucket, and found the address held",
    "sleeper": "sleeps on the bucket's condition variable",
    "woken": "is about to lock the bucket again",
    "asker": "holds the bucket, found the address free, and asks whether the work is done",
    "taker": "holds the bucket, and the address",
    "idler": "holds the bucket, and has nothing to do",
    "holder": "holds the address",
    "finisher": "holds the address, and is about to leave",
    "leaver": "holds the bucket, and no longer the address",
    "notifier": "left, and is about to notify all",
    "other_comer": "is about to lock the bucket for another address",
    "other_inside": "holds the bucket for another address",
    "other_sleeper": "sleeps there for another address",
    "other_notifier": "is about to notify all for another address",
}
# `listed`: holders of the address in the list. `work`: whether there is any left, 0 or 1; `worked`: how often it
# was done. `missed_sleep`: who had to sleep, and did not. `unreleased`: locks of the bucket that were never released.
NUMBERS = ("listed", "work", "worked", *PLACES, "missed_sleep", "unreleased")
PREFIX = "lock_table."

# What is no step left out, done wrong.
WRONG = {
    "notify_before_leaving": "the notification comes before the holder is off the list",
    "notify_one": "one of all sleepers of the bucket is woken, who may be another address's",
    "sleep_holds_lock": "who sleeps does not release the bucket",
    "ask_while_held": "who finds the address held asks all the same",
}
MUTANTS = tuple(Mutant("lock_table", name) for name in WRONG)


def system(tables, mutant=None):
    bucket = Bucket(tables, PREFIX, mutant, MUTANTS, (
        (None, "other_inside"), ("lock_to_enter", "looker waiter asker taker idler"), ("lock_to_leave", "leaver")))
    wrong, unlock = bucket.wrong, bucket.unlock
    is_early = wrong == "notify_before_leaving"

    def acted(state, work, worked):
        state = state.updated(work=state.work - work, worked=state.worked + worked)
        return bucket.notify(state) if is_early else state

    is_held = lambda s: s.listed >= 1  # noqa: E731
    may_ask = lambda s: True if wrong == "ask_while_held" else equal(s.listed, 0)  # noqa: E731
    return System(
        dict.fromkeys(NUMBERS, "Int"),
        lambda s: both(s.work >= 0, s.work <= 1, all_equal(s, 0, (name for name in NUMBERS if name != "work"))),
        {
            "numbers are naturals": are_naturals(NUMBERS),
            "one holds the bucket": lambda s: bucket.inside(s) <= 1,
            "who holds the bucket releases it": lambda s: equal(s.unreleased, 0),
            "the list has who holds the address": lambda s: equal(s.listed, s.taker + s.holder + s.finisher),
            "one holds the address": lambda s: s.listed <= 1,
            "who asks finds the address free": lambda s: implies(s.asker >= 1, equal(s.listed, 0)),
            "who holds the address has work": lambda s: implies(s.taker + s.holder >= 1, equal(s.work, 1)),
            "work is done once": lambda s: s.work + s.worked <= 1,
            "who has to wait sleeps": lambda s: equal(s.missed_sleep, 0),
            "who is about to sleep waits": lambda s: implies(s.waiter >= 1, is_held(s)),
            "who sleeps waits, or will be woken": lambda s: implies(
                s.sleeper >= 1, s.listed + s.leaver + s.notifier >= 1),
        },
        (
            step("come", "", None, "comer"),
            step("enter: lock", "lock_to_enter", "comer", "looker", bucket.may_lock("lock_to_enter")),
            step("enter: it is held", "", "looker", "waiter", is_held),
            step("enter: sleep, and release the bucket", "sleep", "waiter", "sleeper", effect=bucket.sleep),
            step("wake up spuriously", "", "sleeper", "woken"),
            step("woken: lock", "sleep", "woken", "looker", bucket.is_free),
            step("enter: it is free", "", "looker", "asker", may_ask),
            step("enter: take it", "", "asker", "taker", lambda s: equal(s.work, 1),
                 lambda s: s.updated(listed=s.listed + 1)),
            step("enter: nothing is left", "", "asker", "idler", lambda s: equal(s.work, 0)),
            step("enter: unlock, and hold it", "unlock_entered", "taker", "holder", effect=unlock("unlock_entered")),
            step("enter: unlock", "unlock_entered", "idler", None, effect=unlock("unlock_entered")),
            step("work", "", "holder", "finisher", effect=lambda s: acted(s, 1, 1)),
            step("fail to work", "", "holder", "finisher", effect=lambda s: acted(s, 0, 0)),
            step("leave: lock", "lock_to_leave", "finisher", "leaver", bucket.may_lock("lock_to_leave"),
                 lambda s: s.updated(listed=s.listed - 1)),
            step("leave: unlock", "unlock_left", "leaver", None if is_early else "notifier",
                 effect=unlock("unlock_left")),
            step("leave: notify", "notify", "notifier", None, effect=bucket.notify),
            *bucket.others("other_inside", "unlock"),
        ),
        {"who holds the bucket is about to release it": lambda s: either(
            bucket.is_free(s), s.looker + s.waiter + s.asker + s.taker + s.idler + s.leaver + s.other_inside >= 1),
         "who finds the address free sees all that was done": lambda s: implies(
             s.asker >= 1, equal(s.holder + s.finisher, 0))},
        {
            "two addresses in a bucket, both with sleepers": lambda s: both(
                equal(s.sleeper, 3), equal(s.other_sleeper, 4), equal(s.holder, 1)),
            "one takes it while sleepers of before are woken": lambda s: both(
                equal(s.notifier, 1), equal(s.holder, 1), equal(s.sleeper, 2)),
            "a thousand come when the work is done": lambda s: both(
                equal(s.comer, 1000), equal(s.worked, 1), equal(s.idler, 1)),
        },
    )


def will_be_woken(state):
    return both(state.sleeper >= 1, state.leaver + state.notifier >= 1)


def steps_to_wake(state):
    return choose(state.sleeper >= 1, choose(state.notifier >= 1, 1, 2), 0)


def progress(tables, mutant=None):
    """Once its holder is off the list, a sleeper is woken: who left holds the bucket, or only has to notify."""
    waking = Ranking("a wake", system(tables, mutant), will_be_woken, steps_to_wake,
                     {2: "leave: unlock", 1: "leave: notify"})
    yield from waking.questions()
