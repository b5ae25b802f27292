# SPDX-License-Identifier: BSL-1.0
"""The steps of the table of locks, as protocol_steps.py prints them: who wants an address that is free, or held
by another that leaves it, or that works on; and who leaves."""

import lock_table
from runs import Run, start_of, steps_of

WORK, FAIL, NEIGHBOUR = OTHERS = range(3)
LEAVE = ("leave: lock", "leave: unlock", "leave: notify")
NEIGHBOUR_LEAVES = ("come for another address", "lock for another address",
                    "unlock for another address", "notify for another address")


def inside(state):
    return (state.looker + state.waiter + state.asker + state.taker + state.idler + state.leaver +
            state.strange_inside)


def text(site, state):
    return state.sleeper if site == "notify" else inside(state)


class Locker(Run):
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
        for site, name in zip(("lock_to_leave", "unlock_left", "notify"), LEAVE):
            self.visit(site, name)
        return f"{self.state.sleeper} {self.state.listed}"


def table_lines(tables):
    steps = steps_of(lock_table, tables)
    for others in OTHERS:
        for held in range(2):
            for work in range(2):
                if held and not work:
                    continue  # who holds it has work
                state = start_of(lock_table, comer=1, work=work, holder=held, listed=held)
                run = Locker(steps, state, "comer", f"lock_table lock_unless {others} {held} {work}", text)
                yield run.line_of("lock_unless", others)
    for sleeper in range(2):
        state = start_of(lock_table, finisher=1, listed=1, sleeper=sleeper)
        run = Locker(steps, state, "finisher", f"lock_table unlock {sleeper}", text)
        yield run.line_of("unlock")
