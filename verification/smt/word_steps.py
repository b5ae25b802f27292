# SPDX-License-Identifier: BSL-1.0
"""The steps of the share word, as protocol_steps.py prints them."""

import itertools

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

    def compare_exchange(self, site, *names, seen):
        return self.visit(site, *names, seen=seen, fields=FIELDS)

    # The operations: in which order they visit which sites.

    def drop_owner(self):
        if not self.visit("drop_alone", "drop_alone"):
            self.visit("drop_owner", "drop_owner", "drop_owner, the last")

    def claim(self, copies):
        while self.place in ("owner", "waiter"):
            now = self.state
            if self.visit("load_state", "claim: steal", "claim: steal after a wait"):
                if self.place == "storer":
                    self.visit("stop_waiting", "claim: stop waiting")
            elif any(self.is_possible(name, now) for name in copies):
                self.compare_exchange("claim_copy", *copies, seen=now)
            elif self.place == "waiter" or self.compare_exchange("announce_wait", "claim: announce a wait", seen=now):
                self.park()

    def park(self):
        self.note("park")
        if self.interference == COPIES_JUST_ENDED:
            self.state = self.state.but(copies=0)
        if self.visit("still_pending", "park: copies are pending"):
            self.take("park: sleep")
            if self.interference == A_COPY_FAILS:
                self.state = self.state.but(owners=self.state.owners + 1, copies=self.state.copies - 1)
            else:
                self.state = self.state.but(copies=0)
            self.take("park: wake up for nothing")

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

    def abandon_copy(self):
        self.visit("abandon_copy", "abandon_copy")
        for _ in range(self.state.waker):
            self.note("wake_after_abandon")


OPERATIONS = (
    ("owner", ("add_owner", "drop_owner", "is_writable", "is_unique", "claim_or_wait", "claim_at_once", "claim_in_order")),
    ("copier", ("finish_copy", "abandon_copy", "is_sole_copier", "add_copy")),
)
# Where a thread is that was answered yes.
YES = ("writer", "orderer", "relier", "restorer", "leaver", "freer")


def word_lines(tables):
    # The header's steps are the same of what is read-only, though nobody claims it.
    word = ShareWord(tables)
    steps = {step.name: step
             for step in (*transitions(word, lambda state: True), *transitions_in_order(word, lambda state: True))}
    for place, operations in OPERATIONS:
        for operation, interference, start in itertools.product(operations, range(4), words(place)):
            thread = Thread(steps, start, interference, place, f"{operation} {interference} {text(start)}")
            # Most operations are one step, of their name.
            getattr(thread, operation, lambda: thread.visit(operation, operation))()
            yield f"{thread.line} = {thread.place in YES:d}"


def words(place):
    copies_of, owners_of = (range(place == counted, MOST + 1) for counted in ("copier", "owner"))
    for read_only, copies, waiting, owners in itertools.product((False, True), copies_of, (False, True), owners_of):
        yield State({"owners": owners, "waiting": waiting, "copies": copies, "read_only": read_only})
