# SPDX-License-Identifier: BSL-1.0
"""The steps of the share word, as protocol_steps.py prints them."""

from runs import Run
from share_word import FIELDS, ShareWord
from share_word_in_order import NUMBERS
from share_word_in_order import transitions as transitions_in_order
from share_word_proof import transitions
from transitions import State

QUIET, SOMEBODY_CLONES, A_COPY_FAILS, COPIES_JUST_ENDED = range(4)
MOST = 5  # owners, and copies


def text(word):
    return f"{word.owners}.{word.waiting:d}.{word.copies}.{word.read_only:d}"


class Thread(Run):
    """One thread of the model, at a place of it."""

    def __init__(self, steps, start, interference, place, line):
        state = State({**dict.fromkeys(NUMBERS, 0), **vars(start), "owner": start.owners,
                       "copier": start.copies})
        clones = Thread.somebody_clones if interference == SOMEBODY_CLONES else None
        super().__init__(steps, state, place, line, lambda site, word: text(word), clones)
        self.interference = interference

    def somebody_clones(self):
        self.state = self.state.but(owners=self.state.owners + 1)

    def is_waiter(self):
        return self.place == "waiter"

    def compare_exchange(self, site, *names, seen):
        return self.visit(site, *names, seen=seen, fields=FIELDS)

    def end_copies(self):
        self.state = self.state.but(copies=0)

    # The operations: in which order they visit which sites.

    def add_owner(self):
        self.visit("add_owner", "add_owner")

    def drop_owner(self):
        if not self.visit("drop_alone", "drop_alone"):
            self.visit("drop_owner", "drop_owner", "drop_owner, the last")

    def is_writable(self):
        self.visit("is_writable", "is_writable")

    def is_unique(self):
        self.visit("is_unique", "is_unique")

    def claim(self, copies):
        while self.place in ("owner", "waiter"):
            now = self.state
            if self.visit("load_state", "claim: steal", "claim: steal after a wait"):
                if self.place == "storer":
                    self.visit("stop_waiting", "claim: stop waiting")
            elif any(self.is_possible(name, now) for name in copies):
                self.compare_exchange("claim_copy", *copies, seen=now)
            elif self.is_waiter() or self.announce_wait(now):
                self.park()

    def announce_wait(self, now):
        return self.compare_exchange("announce_wait", "claim: announce a wait", seen=now)

    def park(self):
        self.note("park")
        if self.interference == COPIES_JUST_ENDED:
            self.end_copies()
        if self.visit("still_pending", "park: copies are pending"):
            self.state, self.place = self.steps["park: sleep"].after(self.state), "sleeper"
            if self.interference == A_COPY_FAILS:
                self.state = self.state.but(owners=self.state.owners + 1, copies=self.state.copies - 1)
            else:
                self.end_copies()
            self.state, self.place = self.steps["park: wake up for nothing"].after(self.state), "waiter"

    def claim_or_wait(self):
        self.claim(("claim: copy", "claim: copy after a wait"))

    def claim_at_once(self):
        self.claim(("claim: copy and never wait",))

    def claim_in_order(self):
        self.take("in order: take the turn")
        while self.place == "claimer":
            now = self.state
            if not self.visit("load_in_order", "claim in order: steal"):
                self.compare_exchange("claim_copy", "claim in order: copy", seen=now)

    def finish_copy(self):
        self.visit("finish_copy", "finish_copy", "finish_copy, the last")
        for _ in range(self.state.waker):
            self.note("wake_after_copy")

    def is_sole_copier(self):
        self.visit("is_sole_copier", "is_sole_copier")

    def add_copy(self):
        self.visit("add_copy", "add_copy")

    def abandon_copy(self):
        self.visit("abandon_copy", "abandon_copy")
        for _ in range(self.state.waker):
            self.note("wake_after_abandon")


OPERATIONS = {
    "add_owner": "owner",
    "drop_owner": "owner",
    "is_writable": "owner",
    "is_unique": "owner",
    "claim_or_wait": "owner",
    "claim_at_once": "owner",
    "claim_in_order": "owner",
    "finish_copy": "copier",
    "abandon_copy": "copier",
    "is_sole_copier": "copier",
    "add_copy": "copier",
}
# Where a thread is that was answered yes.
YES = ("writer", "orderer", "relier", "restorer", "leaver", "freer")


def word_lines(tables):
    # The header's steps are the same of what is read-only, though nobody claims it.
    word = ShareWord(tables)
    steps = {step.name: step
             for step in (*transitions(word, lambda state: True), *transitions_in_order(word, lambda state: True))}
    for operation, place in OPERATIONS.items():
        for interference in range(4):
            for start in words(place):
                line = f"{operation} {interference} {text(start)}"
                thread = Thread(steps, start, interference, place, line)
                getattr(thread, operation)()
                yield f"{thread.line} = {thread.place in YES:d}"


def words(place):
    for read_only in (False, True):
        for copies in range(place == "copier", MOST + 1):
            for waiting in (False, True):
                for owners in range(place == "owner", MOST + 1):
                    yield State({"owners": owners, "waiting": waiting, "copies": copies,
                                 "read_only": read_only})
