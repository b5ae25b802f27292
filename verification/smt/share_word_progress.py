# SPDX-License-Identifier: BSL-1.0
"""Proves that waiters of the share word are released, and that N claims make N-1 copies and one steal. Also proves
that any number of threads end, if each starts finitely many operations, and that the data is then freed."""

import share_word_proof as proof
from share_word import ShareWord
from terms import both, choose, either, equal, implies, negated
from transitions import Ranking, System, all_end, all_equal

# The steps of claims that may wait, for runs in which no copy fails and no thread clones or drops.
CLAIMS = (
    "claim: steal", "claim: steal after a wait", "claim: stop waiting", "claim: copy",
    "claim: copy after a wait", "claim: announce a wait", "park: copies are pending", "park: sleep",
    "finish_copy", "finish_copy, the last", "wake: pass through the lock", "wake: notify",
)
COPIES = ("claim: copy", "claim: copy after a wait")
SORTS = {**proof.SORTS, "claims": "Int", "copied": "Int"}
# The operations that never wait, by the place of the thread that starts them. Each operation is a tuple of
# alternative steps. At least one step of the tuple is always possible.
AT_ONCE = {
    "owner": (
        ("add_owner",),
        ("add_owners",),
        ("drop_owners",),
        ("drop_alone", "drop_owner", "drop_owner, the last"),
        ("claim: steal", "claim: copy and never wait"),
    ),
    "copier": (("finish_copy", "finish_copy, the last"), ("abandon_copy",), ("add_copy",)),
}


def sleeps(state):
    return state.checker + state.sleeper >= 1


def will_be_woken(state):
    late = both(state.sleeper >= 1, state.notifier >= 1)
    return both(sleeps(state), either(state.waker >= 1, late))


def steps_to_wake(state):
    woken = choose(state.notifier >= 1, 1, 2)
    return choose(state.checker >= 1, 3, choose(state.sleeper >= 1, woken, 0))


def waits(system):
    """The conditions for progress: a waiter has a possible step, and all other operations never wait."""
    steps = {step.name: step for step in system.transitions}

    def is_possible(state, *names):
        return either(*(steps[name].is_possible(state) for name in names))

    def takes_a_step(state, place, names):
        required = {"claim: steal": negated(state.read_only), "drop_owners": state.owner >= state.several + 1}
        return implies(both(getattr(state, place) >= 1, required.get(names[0], True)), is_possible(state, *names))

    released = negated
    return {
        **{f"no {names[0]} waits": lambda s, place=place, names=names: takes_a_step(s, place, names)
           for place, operations in AT_ONCE.items() for names in operations},
        "a sleeper that may be released will be woken": lambda s: implies(
            both(sleeps(s), released(proof.is_blocked(s))), will_be_woken(s)),
        "a waiter that may be released stops waiting": lambda s: implies(
            both(s.waiter >= 1, released(proof.is_blocked(s))),
            is_possible(s, "claim: steal after a wait", "claim: copy after a wait")),
        "a waiter that may not be released sleeps": lambda s: implies(
            both(s.waiter >= 1, proof.is_blocked(s)), is_possible(s, "park: copies are pending")),
        "a pending copy can end": lambda s: implies(
            both(sleeps(s), proof.is_blocked(s)),
            is_possible(s, "finish_copy", "finish_copy, the last")),
    }


def released(tables, mutant=None):
    """The questions that prove that the waiters of `proof.system` are released."""
    system = proof.system(tables, mutant)
    progress = System(system.sorts, system.initial, system.invariants, (), waits(system), {})
    yield from (pair for pair in progress.questions() if pair[0].name.startswith("always"))
    wake = Ranking("a wake", system, will_be_woken, steps_to_wake,
                   {3: "park: sleep", 2: "wake: pass through the lock", 1: "wake: notify"})
    yield from wake.questions()


def claims(tables, mutant=None):
    """The system of N owners that each claim once, for every N."""

    def counted(step):
        effect = step.effect
        if step.name in COPIES:
            effect = lambda s: step.effect(s).updated(copied=s.copied + 1)  # noqa: E731
        return step.updated(effect=effect, needs={})

    steps = [counted(step) for step in proof.transitions(ShareWord(tables, mutant)) if step.name in CLAIMS]
    return System(
        SORTS,
        lambda s: both(
            negated(s.read_only), s.claims >= 1, s.several >= 1, equal(s.owner, s.claims), equal(s.owners, s.claims),
            equal(s.copied, 0),
            negated(s.waiting), all_equal(s, 0, proof.OTHER_NUMBERS)),
        {
            **proof.INVARIANTS,
            "I6 every claim is still an owner or has copied": lambda s: equal(s.owners + s.copied, s.claims),
            "I6 an owner remains": lambda s: s.owners >= 1,
            "a waiter is the last owner": lambda s: implies(s.waiting, equal(s.owners, 1)),
            "no thread does anything but claim": lambda s: both(
                equal(s.leaver + s.relier + s.restorer + s.freer + s.freed, 0), negated(s.read_only)),
        },
        tuple(steps),
        {"I6 if all have claimed, one stole and the others copied": lambda s: implies(
            has_ended(s), both(equal(s.writer, 1), equal(s.copied, s.claims - 1)))},
        {
            "a thousand claims, 600 of them copied": lambda s: both(equal(s.claims, 1000),
                                                                          equal(s.copied, 600)),
            "all of a thousand claims have ended": lambda s: both(equal(s.claims, 1000), has_ended(s)),
        },
        # Steps that are impossible here: an owner always remains, so no copier is the last user. No copy fails, so a
        # waiter remains the only owner.
        ("finish_copy, the last", "claim: copy after a wait"),
    )


def has_ended(state):
    return equal(proof.sum_of(state, [place for place in proof.PLACES if place != "writer"]), 0)


# Steps that start an operation. A program takes a finite number of them. Spurious wakes are left out, since a
# program does not decide their number. An add of several owners counts as several operations.
BEGINS = ("add_owner", "add_owners", "drop_owners", "is_writable", "is_unique", "claim: steal", "claim: copy",
          "claim: copy and never wait", "claim: announce a wait", "is_sole_copier", "add_copy")
SPURIOUS = ("park: wake up spuriously", "wake of another address")
# For each place, an upper bound on the steps that a thread at this place still takes if it starts no operation.
ENDS = {"owner": 2, "writer": 3, "relier": 3, "leaver": 1, "storer": 4, "copier": 9, "restorer": 10, "freer": 1,
        "waiter": 13, "checker": 12, "sleeper": 11, "waker": 5, "notifier": 4}
A_BEGINNING = 20


def programs(tables, mutant=None):
    """The system of one owner and all its direct and indirect clones. They clone, write, wait, fail to copy and drop.
    In total they start `left` more operations."""

    def counted(step):
        if step.name not in BEGINS:
            return step
        operations = (lambda s: s.several) if step.name == "add_owners" else lambda s: 1
        return step.updated(guard=lambda s: both(s.left >= operations(s), step.guard(s)),
                            effect=lambda s: step.effect(s).updated(left=s.left - operations(s)), needs={})

    steps = [counted(step) for step in proof.transitions(ShareWord(tables, mutant)) if step.name not in SPURIOUS]
    system = proof.system(tables, mutant)
    return System(
        {**system.sorts, "left": "Int"},
        lambda s: both(proof.initial(s), s.left >= 0),
        {**system.invariants, "left is a natural number": lambda s: s.left >= 0},
        tuple(steps),
        {"if all have ended, the data is freed": lambda s: implies(has_no_thread(s), equal(s.freed, 1))},
        {"a waiter among a thousand owners, and seven copies": lambda s: both(
            equal(s.owner, 999), equal(s.sleeper, 1), equal(s.copier, 7))},
    )


def has_no_thread(state):
    return equal(proof.sum_of(state, proof.PLACES), 0)


def programs_end(tables, mutant=None):
    def rank(state):
        return sum((getattr(state, place) * weight for place, weight in ENDS.items()), state.left * A_BEGINNING)

    system = programs(tables, mutant)
    # Each step is a step of the share word, and may also decrement `left`. The invariants of the share word are
    # already proved for these steps, so only the other questions are asked.
    own = ("left is a natural number", *system.assertions, *system.sample_states)
    yield from (pair for pair in system.questions() if pair[0].name.endswith(own))
    yield from all_end("programs end", system, rank, has_no_thread)
