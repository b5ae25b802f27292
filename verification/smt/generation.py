# SPDX-License-Identifier: BSL-1.0
"""The generations (core/byre/shadow/detail/generation.hpp): one family, whichever, among any number of others
that write the same storage. Stamps are numbered as their writes are; `header_questions` says why a stamp
is a number and a record."""

from code_tables import Code
from header import Header
from solvers import Question
from terms import both, choose, equal, implies, literal, negated, ones
from transitions import System, Transition, variables

PREFIX = "generation."
HEADER = "core/byre/shadow/detail/generation.hpp"
PLACES = {
    "resting": "does nothing",
    "looking": "loaded the storage's last write",
    "calm": "was not stale of it",
    "told": "was stale of it",
    "reminded": "was not stale, but has not read a write",
    "observing": "a read: is about to observe what it was told, or reminded, of",
    "forgetting": "a read: is about to leave nothing unread",
    "writing": "a write: is about to come after what was found",
    "late": "a write: another family's came before",
    "wrote": "a write: is about to observe itself",
}
# `last`: the storage's stamp; `observed`, `unread`: the family's. What they have to be: `writes` that there
# were, the stamp that the family `knows`, and the write that it `owes` a look, 0 for none. `found`: what it
# loaded. `own`: its last write; `heard`: the latest write that it made or was reported to it. `some`: what
# another read of the family, at the same time, is about to observe, or which of the reported writes it
# leaves unread. `unreleased`: writes whose record is not released with them. `torn`: records that it looked
# at before they were whole.
NUMBERS = (*PLACES, "last", "writes", "observed", "knows", "unread", "owes", "found", "own", "heard", "some",
           "unreleased", "torn")
WORD = {"write": ("last",)}


def system(tables, mutant=None):
    code = Code(tables, PREFIX, mutant)

    def stored(state, site, **values):
        (name, value), = values.items()
        return state if code.is_left_out(site) else state.but(**{name: value + code.one_more(site)})

    def written(state):
        """By anybody: the next write, and its record."""
        unreleased = 0 if code.releases("write") else 1
        state = state.but(writes=state.writes + 1, unreleased=state.unreleased + unreleased)
        return stored(state, "write", last=state.last + 1)

    def loaded(state, site):
        """The family finds the last write: it may look at its record."""
        torn = state.unreleased if code.acquires(site) else state.unreleased + ones(state.last >= 1)
        return state.but(found=state.last, torn=state.torn + torn)

    def told(state, site=None):
        state = loaded(state, site) if site else state
        return state.but(heard=choose(state.heard < state.found, state.found, state.heard))

    def observe(state, write):
        return stored(state.but(knows=write), "observe", observed=write)

    def leave_unread(state):
        return stored(state.but(owes=state.some), "leave_unread", unread=state.some)

    def forget_unread(state):
        return stored(state.but(owes=state.owes * 0), "forget_unread", unread=state.unread * 0)

    def wrote(state):
        return written(state.but(own=state.last + 1, heard=state.last + 1))

    def step(name, sites, start, end, guard=lambda s: True, effect=lambda s: s):
        return Transition(name, tuple(sites.split()), start, end, guard, effect)

    is_stale = lambda s: s.found > s.observed  # noqa: E731
    is_not_stale = lambda s: s.found <= s.observed  # noqa: E731
    may_read = lambda s: equal(s.writing + s.late + s.wrote, 0)  # noqa: E731
    return System(
        dict.fromkeys(NUMBERS, "Int"),
        lambda s: both(s.some >= 0, *(equal(getattr(s, name), 1 if name == "resting" else 0)
                                      for name in NUMBERS if name != "some")),
        {
            "numbers are naturals": lambda s: both(*(getattr(s, name) >= 0 for name in NUMBERS
                                                     if name != "some")),
            "the family does one thing": lambda s: equal(
                sum((getattr(s, place) for place in PLACES if place != "resting"), s.resting), 1),
            "G1 the storage's stamp counts the writes": lambda s: equal(s.last, s.writes),
            "G2 the family has observed a stamp that the storage had": lambda s: both(
                equal(s.observed, s.knows), s.observed <= s.last),
            "G3 the family wrote, or was told of, what it has observed": lambda s: both(
                s.observed <= s.heard, s.heard <= s.last),
            "G3 the family has observed its own last write": lambda s: implies(equal(s.wrote, 0),
                                                                               s.own <= s.observed),
            "G4 what it has not read is what was reported where it wrote": lambda s: both(
                equal(s.unread, s.owes), s.unread <= s.heard),
            "what it found was there": lambda s: s.found <= s.last,
            "what it found comes after its own": lambda s: implies(
                s.looking + s.told + s.observing + s.writing + s.late >= 1, s.own <= s.found),
            "what it was told of it heard": lambda s: implies(
                s.told + s.reminded + s.observing + s.writing + s.late >= 1, s.found <= s.heard),
            "it writes what comes after all it has observed": lambda s: implies(
                s.writing + s.late >= 1, s.observed <= s.found),
            "it writes after what it found": lambda s: implies(s.wrote >= 1, both(
                s.own <= s.last, s.own > s.observed, s.heard >= s.own)),
            "records are released with their writes": lambda s: equal(s.unreleased, 0),
            "every record is whole where it is looked at": lambda s: equal(s.torn, 0),
        },
        (
            step("another family writes", "write", None, None, effect=written),
            step("look", "load_last", "resting", "looking", effect=lambda s: loaded(s, "load_last")),
            step("look: stale", "observed", "looking", "told", is_stale, told),
            step("look: not stale", "observed", "looking", "calm", is_not_stale),
            step("look: something is unread", "unread", "calm", "reminded", lambda s: s.unread >= 1,
                 lambda s: s.but(found=s.unread)),
            step("look: nothing is unread", "unread", "calm", "resting", lambda s: equal(s.unread, 0)),
            step("look: do not ask what is unread", "", "calm", "resting"),
            step("read: told of a later write", "observed", "told", "observing", is_stale),
            step("read: told of no later write", "observed", "told", "forgetting", is_not_stale),
            step("read: reminded of a later write", "observed", "reminded", "observing", is_stale),
            step("read: reminded of no later write", "observed", "reminded", "forgetting", is_not_stale),
            step("read: observe", "observe", "observing", "forgetting", effect=lambda s: observe(s, s.found)),
            step("read: nothing is unread", "forget_unread", "forgetting", "resting", effect=forget_unread),
            step("read: told, and suppressed", "", "told", "resting"),
            step("read: reminded, and suppressed", "", "reminded", "resting"),
            # Reads of a family run at once: another observes what it loaded before, later or earlier.
            step("another read is told", "load_last observed", None, None,
                 lambda s: both(may_read(s), s.last > s.observed),
                 lambda s: told(s, "load_last").but(found=s.found)),
            step("another read observes", "observed observe", None, None,
                 lambda s: both(may_read(s), s.own <= s.some, s.some <= s.heard),
                 lambda s: observe(s, s.some)),
            step("another read leaves nothing unread", "forget_unread", None, None, may_read, forget_unread),
            step("write: observe what it was told of", "observe", "told", "resting",
                 effect=lambda s: observe(s, s.found)),
            step("write: leave it unread", "leave_unread", "resting", "resting",
                 lambda s: both(s.some >= 1, s.some <= s.heard), leave_unread),
            step("write: over all that was unread", "forget_unread", "resting", "resting",
                 effect=forget_unread),
            step("write: begin", "observed", "resting", "writing", effect=lambda s: s.but(found=s.observed)),
            step("write", "write", "writing", "wrote", lambda s: equal(s.last, s.found), wrote),
            step("write: too late", "write", "writing", "late", lambda s: negated(equal(s.last, s.found))),
            step("write: load again", "load_last_again", "late", "writing",
                 effect=lambda s: told(s, "load_last_again")),
            step("write: observe", "observe", "wrote", "resting", effect=lambda s: observe(s, s.own)),
            # From now on it is the one.
            step("a reshape makes a family of it", "observed unread", "resting", "resting"),
        ),
        {
            "G3 whose stamp is the storage's wrote last, or was told": lambda s: implies(
                equal(s.observed, s.last), equal(s.heard, s.last)),
            "G3 who was not told of a write is stale": lambda s: implies(s.heard < s.last,
                                                                         s.observed < s.last),
            "G2 its own write is nothing that it is stale of": lambda s: implies(
                both(s.resting >= 1, equal(s.own, s.last)), equal(s.observed, s.last)),
        },
        {
            "a family that missed a thousand writes": lambda s: both(
                s.own >= 1, equal(s.last, 1000 + s.observed), s.resting >= 1),
            "a family that is late, with a write unread": lambda s: both(s.late >= 1, s.unread >= 1,
                                                                         s.last > s.found + 2),
            "a read that observed less than another": lambda s: both(s.observed < s.heard, s.own < s.observed,
                                                                     s.own >= 1),
        },
    )


BIT_SORTS = {"stamp": "Bits", "record": "Bits"}


def header_questions(tables, mutant=None):
    """That the write after a stamp has the next number, and its own record."""
    record_bits = 20
    fields = variables(BIT_SORTS)
    step = Code(tables, PREFIX, mutant).constant("step")
    header = Header({"step": step, "WriteStamp_record_bits": record_bits}, HEADER)
    text = header.find(r"return WriteStamp\((.*?)\);", header.body("after")).replace("::", "_")
    after = header.value(text, stamp=Stamp(fields.stamp, record_bits), record=fields.record)
    possible = both(fields.stamp < literal((2**44 - 1) << record_bits, "Bits"),
                    fields.record <= literal(2**record_bits - 1, "Bits"))

    def ask(name, condition):
        return Question(f"the header's {name}", (possible, negated(condition))), "unsat"

    number = Stamp(after, record_bits).generation()
    yield ask("stamp has the next number", equal(number, Stamp(fields.stamp, record_bits).generation() + 1))
    yield ask("stamp has its record", equal(after & (2**record_bits - 1), fields.record))
    yield Question("allowed: the millionth write", (
        possible, equal(Stamp(fields.stamp, record_bits).generation(), literal(999_999, "Bits")))), "sat"


class Stamp:
    """WriteStamp, of generation_sites.hpp."""

    def __init__(self, word, record_bits):
        self.word, self.record_bits = word, record_bits

    def generation(self):
        return self.word >> self.record_bits


