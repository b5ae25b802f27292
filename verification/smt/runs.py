# SPDX-License-Identifier: BSL-1.0
"""Runs the transitions of a proof on numbers, as one thread, and records each step as text, as recording.hpp does
for the shipped code."""

from transitions import State

MOST_STEPS = 60


class Endless(Exception):
    """A run takes more steps than a correct run can take."""


class Run:
    """One thread at a place of the model; None stands for outside the operation. `others` plays other threads: it
    changes the state after the first step."""

    def __init__(self, steps, state, place, line, text, others=None):
        self.steps, self.state, self.place, self.line, self.text = steps, state, place, line, text
        self.others = others
        self.taken = 0
        self.found = state  # the state that the last step found, before others acted

    def is_possible(self, name, state):
        return self.steps[name].start in (self.place, None) and self.steps[name].is_possible(state)

    def take(self, name):
        """Takes a transition without a recorded step, or a further one of a visited step."""
        if not self.is_possible(name, self.state):
            raise AssertionError(f"{self.line}: the model cannot {name}")
        self.state, self.place = self.steps[name].after(self.state), self.steps[name].end

    def take_one(self, *names):
        """Takes the only possible one of these transitions."""
        possible = [name for name in names if self.is_possible(name, self.state)]
        if len(possible) != 1:
            raise AssertionError(f"{self.line}: the model can take {possible}, required one of {names}")
        self.take(possible[0])

    def visit(self, site, *names, seen=None, fields=()):
        """Takes the possible one of these transitions, if any, and records the step. Returns its name, or None.
        For a compare-exchange: `seen` is the state that was loaded, and the step fails if one of `fields` has
        changed since."""
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
        if self.others and self.taken == 1:
            self.others(self)
        return possible[0] if possible else None

    def line_of(self, operation, *operands):
        """The line of one operation, with its answer."""
        answer = getattr(self, operation)(*operands)
        return f"{self.line} = {answer}"

    def note(self, text):
        self.line += f" | {text}"

    def another(self, *names):
        """Takes these transitions as another thread, up to the first that is not possible. That thread is outside,
        or at a place where other threads are, too."""
        for name in names:
            if not self.steps[name].is_possible(self.state):
                return
            self.state = self.steps[name].after(self.state)


def steps_of(proof, tables):
    return {step.name: step for step in proof.system(tables).transitions}


def start_of(proof, **values):
    return State({**dict.fromkeys(proof.NUMBERS, 0), **values})
