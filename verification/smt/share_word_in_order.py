# SPDX-License-Identifier: BSL-1.0
"""The share word of data that any number of owners access in the order of a device's queue. A thread has its turn
from its claim until its copy is submitted, or until it has found that it is the last owner. At most one thread has
its turn. The last owner submits its writes behind the pending copies."""

import share_word_proof as proof
from share_word import ShareWord
from terms import both, equal, implies, negated
from transitions import System, all_equal, are_naturals, step

# The places of owners and of a copier, in addition to the places in share_word_proof.py.
OWNERS = {
    "claimer": "has its turn, and loads the word",
    "orderer": "found that it is the last owner: its writes are submitted behind all copies",
}
COPIERS = {"submitter": "has its turn, and is about to submit its copy"}
NUMBERS = (*proof.NUMBERS, *OWNERS, *COPIERS)
SORTS = {**proof.SORTS, **dict.fromkeys((*OWNERS, *COPIERS), "Int")}
# Steps that this system leaves out, because a submitted copy does not fail.
LEFT_OUT = ("abandon_copy",)
# All claims are in order, so the proof shows that these steps are never possible. Hence no thread waits.
IMPOSSIBLE = (
    "claim: steal", "claim: steal after a wait", "claim: stop waiting", "claim: copy", "claim: copy and never wait",
    "claim: copy after a wait", "claim: announce a wait", "park: copies are pending", "park: sleep",
    "park: wake up spuriously",
)


def transitions(word, may_be_claimed=proof.is_claimed):
    users = proof.Users(word)

    def is_last(state):
        return equal(state.owners, word.constant("last_owner"))

    return tuple(proof.of_header(word, step) for step in (
        step("in order: take the turn", "", "owner", "claimer",
             lambda s: both(equal(s.claimer + s.submitter, 0), may_be_claimed(s))),
        step("claim in order: steal", "load_in_order", "claimer", "orderer", is_last,
             lambda s: proof.enters_alone(word, s, "load_in_order")),
        step("claim in order: copy", "claim_copy", "claimer", "submitter", lambda s: negated(is_last(s)),
             lambda s: word.claim_copy(s, False), {"core asserts that there is an owner": lambda s: s.owners >= 1}),
        step("in order: submit the copy", "", "submitter", "copier"),
        step("in order: abandon the copy", "abandon_copy wake_after_abandon", "submitter", "owner",
             effect=users.abandon, needs={"core asserts that there is a copy": lambda s: s.copies >= 1}),
        step("in order: end of a write", "", "orderer", "owner"),
    ))


def initial(state):
    return both(proof.initial(state), all_equal(state, 0, (*OWNERS, *COPIERS)))


INVARIANTS = {
    **proof.INVARIANTS,
    "numbers are naturals": are_naturals(NUMBERS, lambda s: s.several >= 1),
    "I1 owners are counted": lambda s: equal(s.owners, proof.sum_of(s, [*proof.OWNERS, *OWNERS])),
    "I1 copiers are counted": lambda s: equal(s.copies, s.copier + s.restorer + s.submitter),
    "no thread waits": lambda s: both(negated(s.waiting), equal(proof.sum_of(s, proof.WAITERS), 0)),
    "at most one thread has its turn": lambda s: s.claimer + s.submitter <= 1,
    "a writer in order is the only owner": lambda s: implies(s.orderer >= 1, equal(s.owners, 1)),
    "I5 a writer in order writes behind every copy": lambda s: implies(s.orderer >= 1, equal(s.submitter, 0)),
    "read-only data is not claimed in order": lambda s: implies(
        s.read_only, equal(s.claimer + s.orderer, 0)),
}

ASSERTIONS = {
    **proof.ASSERTIONS,
    "no other thread uses data that the last copier changes": lambda s: implies(
        s.restorer >= 1, equal(proof.sum_of(s, [*proof.OWNERS, *OWNERS, *COPIERS, "copier", "freer"]), 0)),
    "I1 unused data is freed": lambda s: implies(
        equal(proof.sum_of(s, [*proof.OWNERS, *OWNERS, *COPIERS, "copier", "restorer", "freer"]), 0),
        equal(s.freed, 1)),
    "I6 at most one thread writes the original": lambda s: s.orderer + s.writer <= 1,
}

SAMPLES = {
    "a write in order during 1000 copies": lambda s: both(equal(s.orderer, 1), equal(s.copies, 1000)),
    "a thread has its turn among 1000 owners and 7 copies": lambda s: both(
        equal(s.submitter, 1), equal(s.owners, 1000), equal(s.copies, 8)),
    "freed after 1000 departures": lambda s: both(equal(s.freed, 1), equal(s.released, 1000)),
}


def system(tables, mutant=None):
    word = ShareWord(tables, mutant)
    others = tuple(step for step in proof.transitions(word, lambda state: False) if step.name not in LEFT_OUT)
    return System(SORTS, initial, INVARIANTS, (*others, *transitions(word)), ASSERTIONS, SAMPLES, IMPOSSIBLE)
