# SPDX-License-Identifier: BSL-1.0
"""The records of a storage's writes (core/byre/shadow/detail/write_records.hpp): one record, whichever, with
any number of threads that write with it, with others, or look for it at once."""

from code_tables import Code
from terms import both, choose, either, equal, implies, negated, ones
from transitions import System, Transition

PREFIX = "write_records."
PLACES = {
    "searcher": "found no such record in the list as it is now, and is about to push one",
    "other": "superseded the storage's last write, and is about to write with another record",
    "same": "is about to write with this record after the storage's last write",
}
# `linked` records in the list, after `pushes`, `equals` of them with this origin. The storage's `last` write,
# that record's `latest`, and the write that it `keeps` as superseded, which was `kept` at most. `some`: a
# write that is superseded late. `unreleased` and `torn`: as of generations.
NUMBERS = (*PLACES, "linked", "pushes", "equals", "last", "latest", "keeps", "kept", "some", "unreleased",
           "torn")
WORD = {"push": ("linked",), "supersede": ("keeps",)}


def is_visited(state, observed, last):
    """Whether who asks for the superseded writes after one and before another gets the record's."""
    return both(state.keeps > observed, state.keeps < last)


def system(tables, mutant=None):
    code = Code(tables, PREFIX, mutant)

    def push(state, equals):
        unreleased = 0 if code.releases("push") else 1
        state = state.but(pushes=state.pushes + 1, equals=state.equals + equals,
                          unreleased=state.unreleased + unreleased,
                          searcher=state.searcher * 0)
        if code.is_left_out("push"):
            return state
        return state.but(linked=state.linked + 1 + code.one_more("push"))

    def first(state):
        torn = state.unreleased if code.acquires("load_first") else state.unreleased + ones(state.linked >= 1)
        return state.but(torn=state.torn + torn)

    def supersede(state, write):
        """Unless a later one is kept."""
        is_later = state.keeps < write
        stored = state.keeps if code.is_left_out("supersede") else write + code.one_more("supersede")
        return state.but(kept=choose(is_later, write, state.kept),
                         keeps=choose(is_later, stored, state.keeps))

    def is_last(state):
        return both(state.last >= 1, equal(state.latest, state.last))

    def step(name, sites, start, end, guard=lambda s: True, effect=lambda s: s):
        return Transition(name, tuple(sites.split()), start, end, guard, effect)

    def written(state):
        """Whoever was about to write after the write before has to begin again."""
        return state.but(last=state.last + 1, other=state.other * 0, same=state.same * 0)

    return System(
        dict.fromkeys(NUMBERS, "Int"),
        lambda s: both(s.some >= 0, *(equal(getattr(s, name), 0) for name in NUMBERS if name != "some")),
        {
            "numbers are naturals": lambda s: both(*(getattr(s, name) >= 0 for name in NUMBERS
                                                     if name != "some")),
            "what was pushed is in the list": lambda s: equal(s.linked, s.pushes),
            "of equal origins one is in the list": lambda s: both(s.equals <= 1, s.equals <= s.pushes),
            "who pushes has seen all of the list": lambda s: implies(s.searcher >= 1, equal(s.equals, 0)),
            "a record that wrote is in the list": lambda s: implies(s.latest + s.same >= 1,
                                                                    equal(s.equals, 1)),
            "a record keeps what was superseded last": lambda s: both(equal(s.keeps, s.kept),
                                                                      s.kept <= s.latest),
            "a record's latest write is one of the storage's": lambda s: s.latest <= s.last,
            "G5 a write is the last, or kept, or a later one of its record is": lambda s: either(
                is_last(s), equal(s.keeps, s.latest)),
            "who writes has superseded the last write": lambda s: implies(
                both(s.other >= 1, is_last(s)), equal(s.keeps, s.latest)),
            "records are released with their pushes": lambda s: equal(s.unreleased, 0),
            "every record is whole where it is looked at": lambda s: equal(s.torn, 0),
        },
        (
            step("find: it is not there", "load_first", None, "searcher", lambda s: equal(s.equals, 0),
                 first),
            step("find: look", "load_first", None, None, effect=first),
            step("push", "push", "searcher", None, effect=lambda s: push(s, 1)),
            step("another record is pushed", "push", None, None, effect=lambda s: push(s, 0)),
            step("supersede, and be about to write", "superseded supersede", None, "other",
                 effect=lambda s: supersede(s, choose(is_last(s), s.last, 0))),
            # It loaded the storage's last write when that was another.
            step("supersede late", "superseded supersede", None, None,
                 lambda s: both(s.some >= 1, s.some <= s.latest), lambda s: supersede(s, s.some)),
            step("look at what it keeps", "load_first superseded", None, None),
            step("be about to write with this record", "", None, "same", lambda s: equal(s.equals, 1)),
            step("write with another record", "", "other", None, effect=written),
            step("write with this record", "", "same", None,
                 effect=lambda s: written(s).but(latest=s.last + 1)),
        ),
        {"G5 who knows the last write finds this record's": lambda s: implies(
            both(s.latest >= 1, s.latest > s.some, negated(is_last(s))),
            both(equal(s.keeps, s.latest), is_visited(s, s.some, s.last)))},
        {
            "a thousand records, the last write another's": lambda s: both(
                equal(s.linked, 1000), s.latest >= 7, s.last > s.latest),
            "fifty look for one record at once": lambda s: equal(s.searcher, 50),
            "nine writes at once": lambda s: both(equal(s.other, 4), equal(s.same, 5), is_last(s)),
        },
    )
