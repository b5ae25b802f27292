# SPDX-License-Identifier: BSL-1.0
"""Executes the transitions of a proof for one thread, with numbers in place of a solver's variables. Records each
step as text, in the form in which recording.hpp records the steps of the shipped code."""

from transitions import State

MOST_STEPS = 60


class Endless(Exception):
    """A run takes more steps than a correct run can take."""


class Run:
    """One thread of the model. `place` is its control location; None means that it is outside the operation. `others`
    acts for the other threads: it is called after one of the steps, and changes the state."""

    others_after = 1  # the number of that step

    def __init__(self, steps, state, place, line, text, others=None):
        self.steps, self.state, self.place, self.line, self.text = steps, state, place, line, text
        self.others = others
        self.taken = 0
        self.found = state  # the state that the last step found, before others acted

    def is_possible(self, name, state):
        return self.steps[name].start in (self.place, None) and self.steps[name].is_possible(state)

    def take(self, name):
        """Takes a transition without recording a step: the code has no atomic step here, or visit() has already
        recorded it."""
        if not self.is_possible(name, self.state):
            raise AssertionError(f"{self.line}: the model cannot {name}")
        self.state, self.place = self.steps[name].after(self.state), self.steps[name].end

    def take_one(self, *names):
        """Takes the one of these transitions that is possible. Exactly one has to be possible."""
        possible = [name for name in names if self.is_possible(name, self.state)]
        if len(possible) != 1:
            raise AssertionError(f"{self.line}: the model can take {possible}, required one of {names}")
        self.take(possible[0])

    def visit(self, site, *names, seen=None, fields=()):
        """Takes the one of these transitions that is possible, if any, and records a step at the site. Returns the
        name of the transition, or None. For a compare-exchange, `seen` is the state that the thread loaded before.
        The step fails if one of `fields` has changed since."""
        before = self.found = self.state
        asked = before if seen is None else seen
        possible = [name for name in names if self.is_possible(name, asked)]
        if len(possible) > 1 or any(site not in self.steps[name].sites for name in possible):
            raise AssertionError(f"{self.line}: the model can take {possible}, required at most one step, at {site}")
        self.taken += 1
        if any(getattr(asked, field) != getattr(before, field) for field in fields):
            possible = []
        for name in possible:
            self.state, self.place = self.steps[name].after(before), self.steps[name].end
        self.note(f"{site} {self.text(site, before)} {self.text(site, self.state)}".rstrip())
        if self.taken > MOST_STEPS:
            raise Endless(f"{self.line[:300]}\nThis run takes more than {MOST_STEPS} steps, so it may not end.")
        if self.others and self.taken == self.others_after:
            self.others(self)
        return possible[0] if possible else None

    def line_of(self, operation, *operands):
        """Runs one operation, and returns its line with its answer."""
        answer = getattr(self, operation)(*operands)
        return f"{self.line} = {answer}"

    def note(self, text):
        self.line += f" | {text}"

    def another(self, *names):
        """Takes these transitions as another thread, up to the first that is not possible. The other thread starts
        outside the operation, or at a place at which the state counts a thread."""
        for name in names:
            if not self.steps[name].is_possible(self.state):
                return
            self.state = self.steps[name].after(self.state)


def steps_of(proof, tables):
    return {step.name: step for step in proof.system(tables).transitions}


def start_of(proof, **values):
    return State({**dict.fromkeys(proof.NUMBERS, 0), **values})
