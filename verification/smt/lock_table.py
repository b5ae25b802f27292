# SPDX-License-Identifier: BSL-1.0
"""A bucket of the table of locks (core/byre/sync/detail/basic_lock_table.hpp): one address, with any number of
threads that want its lock unless the work is done; and any number that lock others of the bucket."""

from code_tables import Code, Mutant
from terms import both, choose, either, equal, implies
from transitions import Ranking, System, Transition

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
    "stranger": "is about to lock the bucket for another address",
    "strange_inside": "holds the bucket for another address",
    "strange_sleeper": "sleeps there for another address",
    "strange_notifier": "is about to notify all for another address",
}
# `listed`: holders of the address in the list. `work`: whether there is any left, 0 or 1; `worked`: how often it
# was done. `restless`: who had to sleep, and did not. `kept`: locks of the bucket that were never released.
NUMBERS = ("listed", "work", "worked", *PLACES, "restless", "kept")
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
    wrong = mutant.change if mutant in MUTANTS else ""
    code = Code(tables, PREFIX, mutant)
    without = code.is_left_out

    def inside(state):
        entered = 0 if without("lock_to_enter") else (
            state.looker + state.waiter + state.asker + state.taker + state.idler)
        leaving = 0 if without("lock_to_leave") else state.leaver
        asleep = state.sleeper if wrong == "sleep_holds_lock" else 0
        return state.kept + state.strange_inside + entered + leaving + asleep

    def is_free(state):
        return equal(inside(state), 0)

    def may_lock(site):
        return lambda state: True if without(site) else is_free(state)

    def unlock(site):
        return lambda state: state.but(kept=state.kept + 1) if without(site) else state

    def sleep(state):
        return state.but(restless=state.restless + 1) if without("sleep") else state

    def notify(state):
        """Whoever sleeps in the bucket is woken."""
        if without("notify"):
            return state
        if wrong == "notify_one":
            mine = both(state.sleeper >= 1, equal(state.strange_sleeper, 0))
            return state.but(sleeper=state.sleeper - choose(mine, 1, 0),
                             woken=state.woken + choose(mine, 1, 0))
        return state.but(sleeper=state.sleeper * 0, woken=state.woken + state.sleeper,
                         strange_sleeper=state.strange_sleeper * 0,
                         stranger=state.stranger + state.strange_sleeper)

    is_early = wrong == "notify_before_leaving"

    def acted(state, work, worked):
        state = state.but(work=state.work - work, worked=state.worked + worked)
        return notify(state) if is_early else state

    def step(name, start, end, guard=lambda s: True, effect=lambda s: s, sites=""):
        return Transition(name, tuple(sites.split()), start, end, guard, effect)

    is_held = lambda s: s.listed >= 1  # noqa: E731
    may_ask = lambda s: True if wrong == "ask_while_held" else equal(s.listed, 0)  # noqa: E731
    return System(
        dict.fromkeys(NUMBERS, "Int"),
        lambda s: both(s.work >= 0, s.work <= 1,
                       *(equal(getattr(s, name), 0) for name in NUMBERS if name != "work")),
        {
            "numbers are naturals": lambda s: both(*(getattr(s, name) >= 0 for name in NUMBERS)),
            "one holds the bucket": lambda s: inside(s) <= 1,
            "who holds the bucket releases it": lambda s: equal(s.kept, 0),
            "the list has who holds the address": lambda s: equal(s.listed, s.taker + s.holder + s.finisher),
            "one holds the address": lambda s: s.listed <= 1,
            "who asks finds the address free": lambda s: implies(s.asker >= 1, equal(s.listed, 0)),
            "who holds the address has work": lambda s: implies(s.taker + s.holder >= 1, equal(s.work, 1)),
            "work is done once": lambda s: s.work + s.worked <= 1,
            "who has to wait sleeps": lambda s: equal(s.restless, 0),
            "who is about to sleep waits": lambda s: implies(s.waiter >= 1, is_held(s)),
            "who sleeps waits, or will be woken": lambda s: implies(
                s.sleeper >= 1, s.listed + s.leaver + s.notifier >= 1),
        },
        (
            step("come", None, "comer"),
            step("enter: lock", "comer", "looker", may_lock("lock_to_enter"), sites="lock_to_enter"),
            step("enter: it is held", "looker", "waiter", is_held),
            step("enter: sleep, and release the bucket", "waiter", "sleeper", effect=sleep, sites="sleep"),
            step("wake up for nothing", "sleeper", "woken"),
            step("woken: lock", "woken", "looker", is_free, sites="sleep"),
            step("enter: it is free", "looker", "asker", may_ask),
            step("enter: take it", "asker", "taker", lambda s: equal(s.work, 1),
                 lambda s: s.but(listed=s.listed + 1)),
            step("enter: nothing is left", "asker", "idler", lambda s: equal(s.work, 0)),
            step("enter: unlock, and hold it", "taker", "holder", effect=unlock("unlock_entered"),
                 sites="unlock_entered"),
            step("enter: unlock", "idler", None, effect=unlock("unlock_entered"), sites="unlock_entered"),
            step("work", "holder", "finisher", effect=lambda s: acted(s, 1, 1)),
            step("fail to work", "holder", "finisher", effect=lambda s: acted(s, 0, 0)),
            step("leave: lock", "finisher", "leaver", may_lock("lock_to_leave"),
                 lambda s: s.but(listed=s.listed - 1), "lock_to_leave"),
            step("leave: unlock", "leaver", None if is_early else "notifier", effect=unlock("unlock_left"),
                 sites="unlock_left"),
            step("leave: notify", "notifier", None, effect=notify, sites="notify"),
            step("come for another address", None, "stranger"),
            step("lock for another address", "stranger", "strange_inside", is_free),
            step("sleep for another address", "strange_inside", "strange_sleeper"),
            step("unlock for another address", "strange_inside", "strange_notifier"),
            step("notify for another address", "strange_notifier", None, effect=notify),
        ),
        {"who holds the bucket is about to release it": lambda s: either(
            is_free(s), s.looker + s.waiter + s.asker + s.taker + s.idler + s.leaver + s.strange_inside >= 1),
         "who finds the address free sees all that was done": lambda s: implies(
             s.asker >= 1, equal(s.holder + s.finisher, 0))},
        {
            "two addresses in a bucket, both with sleepers": lambda s: both(
                equal(s.sleeper, 3), equal(s.strange_sleeper, 4), equal(s.holder, 1)),
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
