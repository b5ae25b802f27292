# SPDX-License-Identifier: BSL-1.0
"""The steps of the textbook form, as protocol_steps.py prints them."""

import share_lock
from runs import Run, start_of, steps_of

REST, ADD, DROP, ABANDON, FAIL = OTHERS = range(5)
OF_USERS = ("add_user", "drop_user", "is_unique")
# Where the thread is at first.
OPERATIONS = {
    "add_owner": "owner",
    "drop_owner": "owner",
    "is_unique": "owner",
    "claim_or_wait": "owner",
    "claim_at_once": "owner",
    "finish_copy": "copier",
    "abandon_copy": "copier",
}


def text(site, state):
    if "lock" in site:
        return sum(getattr(state, place) for place in (*share_lock.SHARED, *share_lock.EXCLUSIVE))
    return state.users if site in OF_USERS else state.owners


class User(Run):
    users = 0  # who were no owners at first

    def another_acts(self, others):
        if self.state.owners >= 2 and others == ADD:
            self.another("add: user", "add: owner")
        elif self.state.owners >= 2 and others == DROP:
            self.another("drop: owner", "dropper leaves")
        elif others == ABANDON and self.users and not text("lock", self.state):
            # It was a copier, whose lock is nothing to this thread by now.
            self.state = self.state.moved("dropper", "owner").but(owners=self.state.owners + 1)

    def add_owner(self):
        self.visit("add_user", "add: user")
        self.visit("add_owner", "add: owner")
        return 0

    def leave(self):
        self.visit("drop_user", f"{self.place} leaves", f"{self.place} leaves, the last")
        return int(self.place == "freer")

    def drop_owner(self):
        self.visit("drop_owner", "drop: owner")
        return self.leave()

    def is_unique(self):
        return int(bool(self.visit("is_unique", "is_unique")))

    def claim_or_wait(self):
        return self.claim(may_wait=True)

    def claim_at_once(self):
        return self.claim(may_wait=False)

    def claim(self, may_wait):
        while True:
            self.visit("lock_copy", "claim: lock")
            if not may_wait:
                self.visit("is_unique", "claim: is not alone, and may not wait")
            if self.copy():
                return 0
            self.visit("unlock_claim", "claim: unlock")
            self.visit("lock_steal", "steal: lock")
            self.visit("last_owner", "steal", "steal: not the last")
            self.visit("unlock_steal", "steal: unlock", "steal: unlock, and begin again")
            if self.place == "writer":
                return 1

    def copy(self):
        """Whether it does. The number of owners is that of the last look; where it is too small, that look
        was the step that decides."""
        copy = "claim: copy and never wait" if self.place == "hasty" else "claim: copy"
        self.visit("count_owners", "claim: no other owner")
        while self.place != "single":
            seen = self.found.but(**{self.place: 1})
            if self.visit("claim_copy", copy, seen=seen, fields=("owners",)):
                return True
            if self.is_possible("claim: no other owner", self.found):
                self.take_late("claim: no other owner")
        return False

    def take_late(self, name):
        """The step that failed was this one, and others acted since."""
        self.state, self.place = self.state.moved(self.place, self.steps[name].end), self.steps[name].end

    def finish_copy(self):
        self.visit("unlock_finish", "finish: unlock")
        return self.leave()

    def abandon_copy(self):
        self.visit("abandon_copy", "abandon: own again")
        self.visit("unlock_abandon", "abandon: unlock")
        return 0


def lock_lines(tables):
    steps = steps_of(share_lock, tables)
    for operation, place in OPERATIONS.items():
        copiers = int(place == "copier")
        for others in OTHERS:
            for step in range(1, 7):
                for owners in range(1 - copiers, 5):
                    for users in range(3):
                        state = start_of(share_lock, owners=owners, owner=owners, copier=copiers,
                                         users=owners + users + copiers, dropper=users)
                        line = f"share_lock {operation} {others} {step} {owners} {users}"
                        run = User(steps, state, place, line, text,
                                   lambda run, others=others: run.another_acts(others), step,
                                   step if others == FAIL else 0)
                        run.users = users
                        yield f"{run.line_of(operation)} {text('lock', run.state)}"
