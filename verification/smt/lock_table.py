# SPDX-License-Identifier: BSL-1.0
"""A bucket of the table of locks (core/byre/sync/detail/basic_lock_table.hpp). Any number of threads lock one
address to do its work, unless the work is already done. Any number of other threads lock other addresses of the
bucket."""

from bucket import Bucket
from code_tables import Mutant
from terms import both, choose, either, equal, implies
from transitions import Ranking, System, all_equal, are_naturals, step

PLACES = {
    "comer": "is about to lock the bucket",
    "looker": "holds the bucket, and is about to check whether the address is held",
    "waiter": "holds the bucket, and found the address held",
    "sleeper": "sleeps on the bucket's condition variable",
    "woken": "is about to lock the bucket again",
    "asker": "holds the bucket, found the address free, and checks whether the work is done",
    "taker": "holds the bucket, and the address",
    "idler": "holds the bucket, and found the work done",
    "holder": "holds the address",
    "finisher": "holds the address, and is about to release it",
    "leaver": "holds the bucket, and has released the address",
    "notifier": "has released the address, and is about to notify all",
    "other_comer": "is about to lock the bucket for another address",
    "other_inside": "holds the bucket for another address",
    "other_sleeper": "sleeps in the bucket for another address",
    "other_notifier": "is about to notify all for another address",
}
# `listed`: the number of holders of the address in the bucket's list. `work`: 1 if work is left, else 0. `worked`:
# how often the work was done. `missed_sleep`: the number of threads that had to sleep and did not. `unreleased`: the
# number of locks of the bucket that were never released.
NUMBERS = ("listed", "work", "worked", *PLACES, "missed_sleep", "unreleased")
PREFIX = "lock_table."

# Wrong forms of the protocol, in addition to the mutants of the lock table in core.
WRONG = {
    "notify_before_leaving": "the notification comes before the holder leaves the list",
    "notify_one": "one sleeper of the bucket is woken, which may wait for another address",
    "sleep_holds_lock": "a sleeper does not unlock the bucket",
    "ask_while_held": "a thread that finds the address held still checks for work",
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
            "one thread holds the bucket": lambda s: bucket.inside(s) <= 1,
            "every holder of the bucket releases it": lambda s: equal(s.unreleased, 0),
            "the list has the holders of the address": lambda s: equal(s.listed, s.taker + s.holder + s.finisher),
            "one thread holds the address": lambda s: s.listed <= 1,
            "a thread checks for work only if the address is free": lambda s: implies(
                s.asker >= 1, equal(s.listed, 0)),
            "a holder of the address has work": lambda s: implies(s.taker + s.holder >= 1, equal(s.work, 1)),
            "work is done once": lambda s: s.work + s.worked <= 1,
            "a thread that has to wait sleeps": lambda s: equal(s.missed_sleep, 0),
            "a thread is about to sleep only if the address is held": lambda s: implies(s.waiter >= 1, is_held(s)),
            "a sleeper has to wait, or will be woken": lambda s: implies(
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
        {"a holder of the bucket is about to release it": lambda s: either(
            bucket.is_free(s), s.looker + s.waiter + s.asker + s.taker + s.idler + s.leaver + s.other_inside >= 1),
         "a thread that finds the address free happens after all work": lambda s: implies(
             s.asker >= 1, equal(s.holder + s.finisher, 0))},
        {
            "two addresses in a bucket, both with sleepers": lambda s: both(
                equal(s.sleeper, 3), equal(s.other_sleeper, 4), equal(s.holder, 1)),
            "a thread takes the address while earlier sleepers are woken": lambda s: both(
                equal(s.notifier, 1), equal(s.holder, 1), equal(s.sleeper, 2)),
            "a thousand threads arrive when the work is done": lambda s: both(
                equal(s.comer, 1000), equal(s.worked, 1), equal(s.idler, 1)),
        },
    )


def will_be_woken(state):
    return both(state.sleeper >= 1, state.leaver + state.notifier >= 1)


def steps_to_wake(state):
    return choose(state.sleeper >= 1, choose(state.notifier >= 1, 1, 2), 0)


def progress(tables, mutant=None):
    """The questions that prove: after the holder has left the list, a sleeper is woken. The former holder only has to
    unlock the bucket and to notify, and both steps are always possible."""
    waking = Ranking("a wake", system(tables, mutant), will_be_woken, steps_to_wake,
                     {2: "leave: unlock", 1: "leave: notify"})
    yield from waking.questions()
