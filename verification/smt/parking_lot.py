# SPDX-License-Identifier: BSL-1.0
"""A bucket of the parking lot (core/byre/sync/detail/basic_parking_lot.hpp). Any number of threads park at one
address, or change the state and wake the parked threads. Any number of other threads park at other addresses of the
bucket."""

from bucket import Bucket
from code_tables import Mutant
from terms import both, choose, either, equal, implies, negated
from transitions import Ranking, System, all_equal, are_naturals, step

PLACES = {
    "comer": "is about to park at the address",
    "locker": "holds the lock, and is about to check whether it has to wait",
    "checker": "holds the lock, and found that it has to wait",
    "sleeper": "sleeps on the bucket's condition variable",
    "woken": "is about to lock the bucket again",
    "leaver": "holds the lock, and is about to return from park",
    "changer": "changed the state, and is about to pass through the lock",
    "waker": "holds the lock, only to pass through it",
    "notifier": "passed through the lock, and is about to notify all",
    "other_comer": "is about to lock the bucket for another address",
    "other_holder": "holds the lock for another address, to check or to pass through",
    "other_sleeper": "sleeps in the bucket for another address",
    "other_notifier": "is about to notify all for another address",
}
# `pending`: 1 if a thread that parks at the address has to wait, else 0. `missed_sleep`: the number of threads that
# had to sleep and did not. `unreleased`: the number of locks of the bucket that were never released.
NUMBERS = ("pending", *PLACES, "missed_sleep", "unreleased")
PREFIX = "parking_lot."

# Wrong forms of the protocol, in addition to the mutants of the parking lot in core.
WRONG = {
    "check_before_lock": "the condition is not checked again under the lock",
    "notify_before_lock": "the notification does not come after passing through the lock",
    "notify_one": "one sleeper of the bucket is woken, which may wait at another address",
    "wake_left_out": "a thread that changes the state wakes no thread",
    "sleep_holds_lock": "a sleeper does not release the lock",
}
MUTANTS = tuple(Mutant("parking_lot", name) for name in WRONG)


def system(tables, mutant=None):
    bucket = Bucket(tables, PREFIX, mutant, MUTANTS, (
        (None, "other_holder"), (None, "leaver"), ("lock_to_park", "locker checker"), ("lock_to_wake", "waker")))
    wrong, unlock = bucket.wrong, bucket.unlock
    must_wait = lambda s: equal(s.pending, 1)  # noqa: E731
    passes = "notifier" if wrong == "notify_before_lock" else "changer"
    change = None if wrong == "wake_left_out" else passes
    return System(
        dict.fromkeys(NUMBERS, "Int"),
        lambda s: all_equal(s, 0, NUMBERS),
        {
            "numbers are naturals": are_naturals(NUMBERS, lambda s: s.pending <= 1),
            "one thread holds the lock": lambda s: bucket.inside(s) <= 1,
            "every holder of the lock releases it": lambda s: equal(s.unreleased, 0),
            "a thread that has to wait sleeps": lambda s: equal(s.missed_sleep, 0),
            "a thread that is about to sleep has to wait, or will be woken": lambda s: implies(
                s.checker >= 1, either(must_wait(s), s.changer >= 1)),
            "a sleeper has to wait, or will be woken": lambda s: implies(
                s.sleeper >= 1, either(must_wait(s), s.changer + s.waker + s.notifier >= 1)),
        },
        (
            step("come", "", None, "comer"),
            step("the state changes back", "", None, None, effect=lambda s: s.updated(pending=s.pending * 0 + 1)),
            step("change the state", "", None, change, must_wait, lambda s: s.updated(pending=s.pending * 0)),
            step("park: lock", "lock_to_park", "comer", "locker", bucket.may_lock("lock_to_park")),
            step("park: has to wait", "", "locker", "checker",
                 lambda s: True if wrong == "check_before_lock" else must_wait(s)),
            step("park: need not wait", "", "locker", "leaver", lambda s: negated(must_wait(s))),
            step("park: sleep, and release the lock", "sleep", "checker", "sleeper", effect=bucket.sleep),
            step("wake up spuriously", "", "sleeper", "woken"),
            step("woken: lock", "sleep", "woken", "leaver", bucket.is_free),
            step("leave", "unlock_parked", "leaver", None, effect=unlock("unlock_parked")),
            step("wake: lock", "lock_to_wake", "changer", "waker", bucket.may_lock("lock_to_wake")),
            step("wake: unlock", "unlock_to_wake", "waker", "notifier", effect=unlock("unlock_to_wake")),
            step("wake: notify", "notify", "notifier", None, effect=bucket.notify),
            *bucket.others("other_holder", "pass through"),
        ),
        {"a sleeper that need not wait will be woken": lambda s: implies(
            both(s.sleeper >= 1, negated(must_wait(s))), will_be_woken(s)),
         "a holder of the lock is about to release it": lambda s: either(
             bucket.is_free(s), s.locker + s.checker + s.leaver + s.waker + s.other_holder >= 1)},
        {
            "two addresses in a bucket, both with sleepers": lambda s: both(
                equal(s.sleeper, 3), equal(s.other_sleeper, 4), must_wait(s)),
            "a waiter that arrives while another is woken": lambda s: both(
                equal(s.notifier, 1), equal(s.checker, 1), equal(s.sleeper, 1)),
            "a thousand wakers": lambda s: both(equal(s.changer, 1000), equal(s.sleeper, 1)),
        },
    )


def will_be_woken(state):
    return both(state.sleeper >= 1, state.changer + state.waker + state.notifier >= 1)


def steps_to_wake(state):
    waiting = choose(state.waker >= 1, 2, 3)
    return choose(state.sleeper >= 1, choose(state.notifier >= 1, 1, waiting), 0)


def progress(tables, mutant=None):
    """The questions that prove: if locks are fair, a sleeper for which a wake is pending is woken. The holder of the
    bucket's lock releases the lock, and then the waker gets the lock."""
    ranked = system(tables, mutant)
    waking = Ranking("a wake", ranked, will_be_woken, steps_to_wake,
                     {3: "wake: lock", 2: "wake: unlock", 1: "wake: notify"})
    # "wake: lock" is not always possible, since another thread may hold the lock, so that question is left out.
    # An assertion of the system shows that the holder is about to release the lock.
    return [(question, wanted) for question, wanted in waking.questions()
            if question.name != "a wake: wake: lock is possible"]
