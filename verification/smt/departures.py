# SPDX-License-Identifier: BSL-1.0
"""Release sequences, counted: of those that left, whose last steps an acquire of the count still sees."""

from terms import choose

# Of those that left: who may have used what is counted.
DEPARTURES = {
    "departed": "all of them",
    "released": "which an acquire of the count as it is now synchronizes with",
    "known": "which happened before all that its present users do",
    "missed": "which somebody alone has not synchronized with",
}


def leaves(code, state, site):
    """All that it did happens before what follows an acquire of the count, if its step releases. The steps
    after it are read-modify-writes, which go on with the sequence."""
    state = state.but(departed=state.departed + 1)
    return state.but(released=state.released + 1) if code.releases(site) else state


def enters_alone(code, state, site):
    seen = state.known + (state.released if code.acquires(site) else 0)
    return state.but(missed=state.missed + (state.departed - seen))


def ends_sequences(state, was_alone, before):
    """A plain store: nobody can acquire what was released before. But who stores happens after it, and who
    comes later comes by it, if it was the only one."""
    return state.but(released=state.released * 0, known=state.known + choose(was_alone, before.released, 0))
