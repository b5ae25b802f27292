# SPDX-License-Identifier: BSL-1.0
"""The steps of the parking lot, as protocol_steps.py prints them: who parks at an address and is woken by
whom, and who wakes."""

import parking_lot
from runs import Run, start_of, steps_of

REST, CHANGE, CHANGE_BEFORE_CHECK, WAKE_NEIGHBOUR, WAKE_ELSEWHERE = OTHERS = range(5)
PASS = ("wake: lock", "wake: unlock", "wake: notify")
PASS_FOR_ANOTHER = ("come for another address", "lock for another address",
                    "pass through for another address", "notify for another address")


def holders(state):
    return state.locker + state.checker + state.leaver + state.waker + state.strange_holder


def text(site, state):
    return state.sleeper if site == "notify" else holders(state)


class Waiter(Run):
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
            # What wakes another bucket is nothing to this one.
            if self.state.sleeper:
                self.take("wake up for nothing")
                self.note("woken for nothing")
            else:
                self.note("woken")
            self.place = "woken"
            self.take("woken: lock")
        self.visit("unlock_parked", "leave")
        return holders(self.state)

    def unpark_all(self):
        for site, name in zip(("lock_to_wake", "unlock_to_wake", "notify"), PASS):
            self.visit(site, name)
        return self.state.sleeper


def lot_lines(tables):
    steps = steps_of(parking_lot, tables)
    for others in OTHERS:
        for pending in range(2):
            state = start_of(parking_lot, comer=1, pending=pending)
            run = Waiter(steps, state, "comer", f"parking_lot park {others} {pending}", text)
            yield run.line_of("park", others)
    for sleeper in range(2):
        for elsewhere in range(2):
            state = start_of(parking_lot, changer=1, sleeper=sleeper)
            run = Waiter(steps, state, "changer", f"parking_lot unpark_all {sleeper} {elsewhere}", text)
            # Who sleeps elsewhere is nobody of this bucket.
            run.state = run.state.but(sleeper=0) if elsewhere else run.state
            answer = run.unpark_all()
            yield f"{run.line} = {answer + sleeper * elsewhere}"
