# SPDX-License-Identifier: BSL-1.0
"""The share word: the effect of each step on the word's fields. The values of the fields are Python numbers, a
solver's naturals, or bit-vectors. So this one definition has three uses: it is the solvers' model, header.py compares
it with the expressions of the header, and protocol_steps.py runs it to compare its steps with those of the code."""

from code_tables import Code
from terms import both, choose, equal, negated

FIELDS = ("owners", "waiting", "copies", "read_only")
NAME = "share_word."


class ShareWord(Code):
    """The share word with the orders and numbers of core's tables, changed by at most one mutant."""

    def __init__(self, tables, mutant=None):
        super().__init__(tables, NAME, mutant)

    def stored(self, site, word, direction=1, **fields):
        """The word after a step that stores these fields. `direction`: -1 if the step subtracts its operand, else 1."""
        if self.is_left_out(site):
            return word
        owners = fields.pop("owners", word.owners) + direction * self.operand_error(site)
        return word.updated(owners=owners, **fields)

    # Conditions on a word.

    def is_sole_use(self, word):
        return both(equal(word.owners, 1), equal(word.copies, 0))

    def is_last_copy(self, word):
        return both(equal(word.owners, 0), negated(word.waiting), equal(word.copies, 1))

    def may_be_written(self, word):
        return both(self.is_sole_use(word), negated(word.waiting), negated(word.read_only))

    def goes_copying(self, word):
        return word.owners > self.constant("last_owner")

    def has_to_wait(self, word):
        pending = negated(equal(word.copies, self.constant("no_copies")))
        return both(equal(word.owners, self.constant("last_owner")), pending)

    def wakes_after_copy(self, word):
        return both(word.waiting, equal(word.copies, self.constant("last_copy")))

    def wakes_after_abandon(self, word):
        return word.waiting

    # The steps.

    def add_owner(self, word):
        return self.stored("add_owner", word, owners=word.owners + 1)

    def add_owners(self, word, number):
        return self.stored("add_owners", word, owners=word.owners + number)

    def drop_owners(self, word, number):
        return self.stored("drop_owners", word, direction=-1, owners=word.owners - number)

    def drop_owner(self, word):
        return self.stored("drop_owner", word, direction=-1, owners=word.owners - 1)

    def claim_copy(self, word, waits):
        """`waits`: this claim has set the waiting bit."""
        return self.stored("claim_copy", word, owners=word.owners - 1, copies=word.copies + 1,
                           waiting=choose(waits, False, word.waiting))

    def announce_wait(self, word):
        return self.stored("announce_wait", word, waiting=True)

    def stop_waiting(self, word):
        return self.stored("stop_waiting", word, owners=word.owners * 0 + 1, copies=word.copies * 0,
                           waiting=False, read_only=False)

    def finish_copy(self, word):
        return self.stored("finish_copy", word, direction=-1, copies=word.copies - 1)

    def add_copy(self, word):
        return self.stored("add_copy", word, copies=word.copies + 1)

    def abandon_copy(self, word):
        return self.stored("abandon_copy", word, direction=-1, owners=word.owners + 1, copies=word.copies - 1)
