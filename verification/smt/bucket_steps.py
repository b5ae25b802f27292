# SPDX-License-Identifier: BSL-1.0
"""The model's steps of the parking lot and of the table of locks, in the form in which protocol_steps.py compares
them with the steps of the code.

Parking lot: a thread parks at an address and is woken, or a thread wakes the threads at an address.
Table of locks: a thread locks an address, or a thread releases an address. An address to lock is free, or another
thread holds it, works or fails to work, and then releases it."""

import itertools

import lock_table
import parking_lot
from runs import Run, start_of, steps_of

REST, CHANGE, CHANGE_BEFORE_CHECK, WAKE_NEIGHBOUR, WAKE_ELSEWHERE = OF_LOT = range(5)
WORK, FAIL, NEIGHBOUR = OF_TABLE = range(3)
# Sequences of steps of another thread, each from its lock of the bucket to its notification.
PASS = ("wake: lock", "wake: unlock", "wake: notify")
LEAVE = ("leave: lock", "leave: unlock", "leave: notify")
COME_FOR_ANOTHER = ("come for another address", "lock for another address")
PASS_FOR_ANOTHER = (*COME_FOR_ANOTHER, "pass through for another address", "notify for another address")
NEIGHBOUR_LEAVES = (*COME_FOR_ANOTHER, "unlock for another address", "notify for another address")


class InBucket(Run):
    INSIDE = ()  # the places at which a thread holds the bucket's lock

    def __init__(self, steps, state, place, line):
        super().__init__(steps, state, place, line,
                         lambda site, s: s.sleeper if site == "notify" else self.inside(s))

    def inside(self, state):
        return sum(getattr(state, place) for place in self.INSIDE)

    def visit_each(self, sites, names):
        for site, name in zip(sites, names):
            self.visit(site, name)


class Waiter(InBucket):
    INSIDE = ("locker", "checker", "leaver", "waker", "other_holder")

    def park(self, others):
        self.visit("lock_to_park", "park: lock")
        if others == CHANGE_BEFORE_CHECK:
            self.another("change the state")
        self.note(f"check {self.state.pending}")
        self.take_one("park: has to wait", "park: need not wait")
        if self.place == "checker":
            self.visit("sleep", "park: sleep, and release the lock")
            if others == CHANGE:
                self.another("change the state")
            if others in (CHANGE, CHANGE_BEFORE_CHECK):
                self.another(*PASS)
            elif others == WAKE_NEIGHBOUR:
                self.another(*PASS_FOR_ANOTHER)
            # A wake in another bucket does not affect this bucket.
            if self.state.sleeper:
                self.take("wake up spuriously")
                self.note("woken spuriously")
            else:
                self.note("woken")
            self.place = "woken"
            self.take("woken: lock")
        self.visit("unlock_parked", "leave")
        return self.inside(self.state)

    def unpark_all(self):
        self.visit_each(("lock_to_wake", "unlock_to_wake", "notify"), PASS)
        return self.state.sleeper


class Locker(InBucket):
    INSIDE = ("looker", "waiter", "asker", "taker", "idler", "leaver", "other_inside")

    def lock_unless(self, others):
        self.visit("lock_to_enter", "enter: lock")
        while self.state.listed:
            self.take("enter: it is held")
            self.visit("sleep", "enter: sleep, and release the bucket")
            self.another(*NEIGHBOUR_LEAVES if others == NEIGHBOUR else
                         ("fail to work" if others == FAIL else "work", *LEAVE))
            others = WORK
            self.note("woken")
            self.place = "woken"
            self.take("woken: lock")
        self.take("enter: it is free")
        self.note(f"ask {1 - self.state.work}")
        self.take_one("enter: take it", "enter: nothing is left")
        self.visit("unlock_entered", "enter: unlock, and hold it", "enter: unlock")
        return f"{int(self.place == 'holder')} {self.state.listed}"

    def unlock(self):
        self.visit_each(("lock_to_leave", "unlock_left", "notify"), LEAVE)
        return f"{self.state.sleeper} {self.state.listed}"


def lot_lines(tables):
    steps = steps_of(parking_lot, tables)
    for others, pending in itertools.product(OF_LOT, range(2)):
        state = start_of(parking_lot, comer=1, pending=pending)
        yield Waiter(steps, state, "comer", f"parking_lot park {others} {pending}").line_of("park", others)
    for sleeper, elsewhere in itertools.product(range(2), range(2)):
        state = start_of(parking_lot, changer=1, sleeper=sleeper)
        run = Waiter(steps, state, "changer", f"parking_lot unpark_all {sleeper} {elsewhere}")
        # A thread that sleeps elsewhere is in another bucket.
        run.state = run.state.updated(sleeper=0) if elsewhere else run.state
        answer = run.unpark_all()
        yield f"{run.line} = {answer + sleeper * elsewhere}"


def table_lines(tables):
    steps = steps_of(lock_table, tables)
    # (1, 0) is impossible: while a thread holds the address, work is left.
    for others, (held, work) in itertools.product(OF_TABLE, ((0, 0), (0, 1), (1, 1))):
        state = start_of(lock_table, comer=1, work=work, holder=held, listed=held)
        run = Locker(steps, state, "comer", f"lock_table lock_unless {others} {held} {work}")
        yield run.line_of("lock_unless", others)
    for sleeper in range(2):
        state = start_of(lock_table, finisher=1, listed=1, sleeper=sleeper)
        yield Locker(steps, state, "finisher", f"lock_table unlock {sleeper}").line_of("unlock")
