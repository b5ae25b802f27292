# SPDX-License-Identifier: BSL-1.0
"""Transition systems over unbounded naturals, and the questions to the solvers that make a proof."""

from dataclasses import dataclass, field, replace

from solvers import Question
from terms import Term, both, either, equal, negated


class State:
    """A value for each variable: a term or a Python number."""

    def __init__(self, values):
        vars(self).update(values)

    def updated(self, **changes):
        unknown = set(changes) - set(vars(self))
        if unknown:
            raise KeyError(f"unknown variables: {', '.join(unknown)}")
        return State({**vars(self), **changes})

    def moved(self, start, end, number=1):
        """The state with `number` threads fewer at `start` and one more at `end`. None stands for outside all
        places."""
        changes = {}
        if start:
            changes[start] = getattr(self, start) - number
        if end:
            changes[end] = changes.get(end, getattr(self, end)) + 1
        return self.updated(**changes)


def variables(sorts, suffix=""):
    return State({name: Term(name + suffix, sort) for name, sort in sorts.items()})


@dataclass(frozen=True)
class Transition:
    """A step that moves a thread from place `start` to place `end`. A place is a control location; None stands for
    outside all places."""

    name: str
    sites: tuple  # the sites in the code that the transition models
    start: str
    end: str
    guard: callable  # a condition of the state, in addition to a thread at `start`
    effect: callable  # returns the next state, except for the moved thread
    needs: dict = field(default_factory=dict)  # conditions that must hold whenever the transition is taken
    number: callable = lambda state: 1  # how many of those that the state counts at `start` are the moved thread

    def updated(self, **changes):
        return replace(self, **changes)

    def is_possible(self, state):
        return both(getattr(state, self.start) >= self.number(state) if self.start else True, self.guard(state))

    def after(self, state):
        return self.effect(state.moved(self.start, self.end, self.number(state)))

    def between(self, state, then):
        """The condition that the transition leads from `state` to `then`."""
        after = self.after(state)
        same = [equal(getattr(then, name), getattr(after, name)) for name in vars(state)]
        return both(self.is_possible(state), *same)


def step(name, sites, start, end, guard=lambda s: True, effect=lambda s: s, needs=(), number=lambda s: 1):
    """`sites`: the names of the sites, separated by spaces."""
    return Transition(name, tuple(sites.split()), start, end, guard, effect, dict(needs), number)


def all_equal(state, number, names):
    """The condition that all variables with these names equal the number."""
    return both(*(equal(getattr(state, name), number) for name in names))


def are_naturals(names, *others):
    """The invariant that these numbers are naturals and that `others` hold."""
    return lambda s: both(*(getattr(s, name) >= 0 for name in names), *(other(s) for other in others))


@dataclass(frozen=True)
class System:
    sorts: dict
    initial: callable  # a condition of the first state
    invariants: dict  # by name: conditions that the proof shows for every reachable state
    transitions: tuple
    assertions: dict  # conditions that the invariants have to imply
    sample_states: dict  # conditions of states that the invariants have to allow
    impossible: tuple = ()  # names of transitions that are never possible
    # Numbers for variables of the state, with which mutants that split a step are refuted.
    split_with: dict = field(default_factory=dict)

    def holds(self, state):
        return both(*(condition(state) for condition in self.invariants.values()))

    def questions(self):
        """Yields questions, each with the answer that the proof requires."""
        state = variables(self.sorts)
        for name, invariant in self.invariants.items():
            yield self.ask(f"at first: {name}", self.initial(state), negated(invariant(state))), "unsat"
        holds = self.holds(state)
        for transition in self.transitions:
            after = transition.after(state)
            possible = both(holds, transition.is_possible(state))
            for name, invariant in self.invariants.items():
                yield self.ask(f"{transition.name}: {name}", possible, negated(invariant(after))), "unsat"
            for name, need in transition.needs.items():
                yield self.ask(f"{transition.name} needs: {name}", possible, negated(need(state))), "unsat"
        for name, assertion in self.assertions.items():
            yield self.ask(f"always: {name}", holds, negated(assertion(state))), "unsat"
        for transition in self.transitions:
            name, is_impossible = transition.name, transition.name in self.impossible
            yield (self.ask(f"{'never' if is_impossible else 'possible'}: {name}", holds,
                            transition.is_possible(state)),
                   "unsat" if is_impossible else "sat")
        for name, sample in self.sample_states.items():
            yield self.ask(f"allowed: {name}", holds, sample(state)), "sat"

    @staticmethod
    def ask(name, *conditions):
        return Question(name, tuple(conditions))

    def split(self, transition, other_transitions, word):
        """The questions for a step that is split into a load and a store: can a transition of another thread
        between the two break an invariant? `word` names the variables that the step loads and stores."""
        state, meanwhile = (variables(self.sorts, suffix).updated(**self.split_with) for suffix in ("", "_then"))
        # Other threads' transitions must not use the thread that is within its step.
        absent = state.moved(transition.start, None, transition.number(state))
        others = either(*(other.between(absent, meanwhile) for other in other_transitions))
        late = meanwhile.updated(**{name: getattr(state, name) for name in word})
        after = transition.effect(late.moved(None, transition.end))
        for name, invariant in self.invariants.items():
            yield self.ask(
                f"{transition.name} in two steps: {name}",
                both(self.holds(state), transition.is_possible(state), others),
                negated(invariant(after)),
            ), "unsat"


@dataclass(frozen=True)
class Ranking:
    """Proves that a pending condition ends under weak fairness. While the condition is pending, the state has a rank.
    For each rank some transition is possible, stays possible, and lowers the rank. No other transition raises it."""

    name: str
    system: System
    pending: callable
    rank: callable  # 0 when the condition has ended
    helpful: dict  # for each rank, the name of the transition that lowers it

    def questions(self):
        system = self.system
        state = variables(system.sorts)
        rank = self.rank(state)
        pending = both(system.holds(state), self.pending(state))
        steps = {transition.name: transition for transition in system.transitions}
        known = either(*(equal(rank, each) for each in self.helpful))
        yield system.ask(f"{self.name}: has a rank", pending, negated(known)), "unsat"
        for step in steps.values():
            after = step.after(state)
            worse = negated(both(self.rank(after) <= rank,
                                 either(self.pending(after), equal(self.rank(after), 0))))
            yield system.ask(f"{self.name}: {step.name} raises no rank", pending, step.is_possible(state),
                             worse), "unsat"
        for each, name in self.helpful.items():
            now = both(pending, equal(rank, each))
            possible = steps[name].is_possible(state)
            lower = self.rank(steps[name].after(state)) < each
            yield system.ask(f"{self.name}: {name} is possible", now, negated(possible)), "unsat"
            yield system.ask(f"{self.name}: {name} lowers the rank", now, possible, negated(lower)), "unsat"


def all_end(name, system, rank, has_ended):
    """The questions that prove that all threads end under every schedule: each step lowers the rank, and a step is
    possible until all have ended."""
    state = variables(system.sorts)
    holds = system.holds(state)
    yield system.ask(f"{name}: a rank is a natural", holds, negated(rank(state) >= 0)), "unsat"
    for step in system.transitions:
        higher = negated(rank(step.after(state)) < rank(state))
        yield system.ask(f"{name}: {step.name} lowers the rank", holds, step.is_possible(state),
                         higher), "unsat"
    stuck = negated(either(*(step.is_possible(state) for step in system.transitions)))
    yield system.ask(f"{name}: no state is stuck", holds, stuck, negated(has_ended(state))), "unsat"
