# SPDX-License-Identifier: BSL-1.0
"""Runs the transitions of a proof on numbers, as one thread, and writes down each step as recording.hpp does
of the shipped code."""

from transitions import State

MOST_STEPS = 60


class Endless(Exception):
    """A run takes more steps than any should."""


class Run:
    """One thread at a place of the model; None is outside. `others`: what others do to the state after the first
    step."""

    def __init__(self, steps, state, place, line, text, others=None):
        self.steps, self.state, self.place, self.line, self.text = steps, state, place, line, text
        self.others = others
        self.taken = 0
        self.found = state  # what the last step found, before others acted

    def is_possible(self, name, state):
        return self.steps[name].start in (self.place, None) and self.steps[name].is_possible(state)

    def take(self, name):
        """Of what is no step of the code, or a part of one that was visited."""
        if not self.is_possible(name, self.state):
            raise AssertionError(f"{self.line}: the model cannot {name}")
        self.state, self.place = self.steps[name].after(self.state), self.steps[name].end

    def take_one(self, *names):
        """The one of these that is possible."""
        possible = [name for name in names if self.is_possible(name, self.state)]
        if len(possible) != 1:
            raise AssertionError(f"{self.line}: the model may take {possible}")
        self.take(possible[0])

    def visit(self, site, *names, seen=None, fields=()):
        """Takes the transition of these that is possible, if one is. Of a compare-exchange: where it is
        possible in the state that was seen, and these fields have not changed. Returns its name, or None."""
        before = self.found = self.state
        asked = before if seen is None else seen
        possible = [name for name in names if self.is_possible(name, asked)]
        if len(possible) > 1 or any(site not in self.steps[name].sites for name in possible):
            raise AssertionError(f"{self.line}: at {site} the model may take {possible}")
        self.taken += 1
        if any(getattr(asked, field) != getattr(before, field) for field in fields):
            possible = []
        for name in possible:
            self.state, self.place = self.steps[name].after(before), self.steps[name].end
        self.note(f"{site} {self.text(site, before)} {self.text(site, self.state)}".rstrip())
        if self.taken > MOST_STEPS:
            raise Endless(f"{self.line[:300]}\nThis run takes more than {MOST_STEPS} steps: it may not end.")
        if self.others and self.taken == 1:
            self.others(self)
        return possible[0] if possible else None

    def line_of(self, operation, *operands):
        """Of one of its methods, and its answer."""
        answer = getattr(self, operation)(*operands)
        return f"{self.line} = {answer}"

    def note(self, text):
        self.line += f" | {text}"

    def another(self, *names):
        """Another thread, from outside or from where many are, takes these transitions, as far as it can."""
        for name in names:
            if not self.steps[name].is_possible(self.state):
                return
            self.state = self.steps[name].after(self.state)


def steps_of(proof, tables):
    return {step.name: step for step in proof.system(tables).transitions}


def start_of(proof, **values):
    return State({**dict.fromkeys(proof.NUMBERS, 0), **values})
