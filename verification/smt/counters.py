# SPDX-License-Identifier: BSL-1.0
"""What is counted, flagged and published: relaxed counters, the counters of a thread, the flag that there are
sinks of copies, and what is made once under a lock and found without one. Any number of threads each."""

from code_tables import Code
from terms import both, choose, equal, implies, negated, ones
from transitions import System, Transition


def natural(names):
    return lambda s: both(*(getattr(s, name) >= 0 for name in names))


def all_zero(names):
    return lambda s: both(*(equal(getattr(s, name), 0) for name in names))


def step(name, sites, start, end, guard=lambda s: True, effect=lambda s: s):
    return Transition(name, tuple(sites.split()), start, end, guard, effect)


def stored(code, state, site, **values):
    """After a step that leaves this value, unless it is left out."""
    (name, value), = values.items()
    return state if code.is_left_out(site) else state.but(**{name: value + code.one_more(site)})


class RelaxedCounter:
    """sync/detail/relaxed_counter.hpp. `value`, what it has to be, and what somebody may set."""

    PREFIX = "relaxed_counter."
    NUMBERS = ("value", "counted", "some")
    WORD = {"add": ("value",), "subtract": ("value",)}

    @classmethod
    def system(cls, tables, mutant=None):
        code = Code(tables, cls.PREFIX, mutant)
        subtracted = 1 + code.one_more("subtract")
        return System(
            dict.fromkeys(cls.NUMBERS, "Int"),
            lambda s: both(equal(s.value, 0), equal(s.counted, 0)),
            {"it is what was counted": lambda s: equal(s.value, s.counted)},
            (
                step("add", "add", None, None,
                     effect=lambda s: stored(code, s.but(counted=s.counted + 1), "add", value=s.value + 1)),
                step("subtract", "subtract", None, None,
                     effect=lambda s: s.but(
                         counted=s.counted - 1,
                         value=s.value - (0 if code.is_left_out("subtract") else subtracted))),
                step("value", "value", None, None),
                step("set", "set", None, None,
                     effect=lambda s: stored(code, s.but(counted=s.some), "set", value=s.some)),
            ),
            {},
            {"a thousand are counted": lambda s: equal(s.value, 1000)},
        )


class Shard:
    """stats/detail/cells.hpp: a counter of one thread, which counts, and ends. `ended`: what threads that
    ended counted, this one included; `ended_before`: without it."""

    PREFIX = "stats."
    PLACES = ("resting", "counting", "ended_thread")
    NUMBERS = (*PLACES, "cell", "seen", "counted", "some", "ended", "ended_before")
    WORD = {}

    @classmethod
    def system(cls, tables, mutant=None):
        code = Code(tables, cls.PREFIX, mutant)
        return System(
            dict.fromkeys(cls.NUMBERS, "Int"),
            lambda s: both(*(equal(getattr(s, name), 1 if name == "resting" else 0)
                             for name in cls.NUMBERS if name != "some")),
            {
                "a thread does one thing": lambda s: both(natural(cls.PLACES)(s),
                                                          equal(s.resting + s.counting + s.ended_thread, 1)),
                "a thread loses no count of its own": lambda s: equal(s.cell, s.counted),
                "what it found is what it counted": lambda s: implies(s.counting >= 1,
                                                                      equal(s.seen, s.counted)),
                "an ended thread's counts are kept once": lambda s: equal(
                    s.ended, s.ended_before + choose(s.ended_thread >= 1, s.counted, 0)),
            },
            (
                step("count: load", "read", "resting", "counting", effect=lambda s: s.but(seen=s.cell)),
                step("count: store", "write", "counting", "resting",
                     effect=lambda s: stored(code, s.but(counted=s.counted + s.some), "write",
                                             cell=s.seen + s.some)),
                # Under the lock of the registry, as a snapshot is.
                step("end", "read", "resting", "ended_thread",
                     effect=lambda s: s.but(ended=s.ended + s.cell)),
                step("another thread ends", "", None, None,
                     effect=lambda s: s.but(ended=s.ended + s.some, ended_before=s.ended_before + s.some)),
                step("snapshot", "read", None, None),
            ),
            {"a snapshot has all that was counted before": lambda s: implies(
                s.resting >= 1, equal(s.ended + s.cell, s.ended_before + s.counted))},
            {"a thread that counted a million": lambda s: both(equal(s.cell, 1_000_000), s.counting >= 1)},
        )


class RelaxedFlag:
    """stats/detail/cells.hpp, with the lock of the list of sinks: any number install and uninstall."""

    PREFIX = "relaxed_flag."
    NUMBERS = ("changer", "installed", "flag")
    WORD = {}

    @classmethod
    def system(cls, tables, mutant=None):
        code = Code(tables, cls.PREFIX, mutant)
        return System(
            dict.fromkeys(cls.NUMBERS, "Int"),
            all_zero(cls.NUMBERS),
            {
                "numbers are naturals": lambda s: both(s.changer >= 0, s.installed >= 0),
                "one changes the list at a time": lambda s: s.changer <= 1,
                "who looks finds whether there is a sink": lambda s: implies(
                    equal(s.changer, 0), equal(negated(equal(s.flag, 0)), s.installed >= 1)),
            },
            (
                step("install: lock", "", None, "changer", lambda s: equal(s.changer, 0),
                     lambda s: s.but(installed=s.installed + 1)),
                step("uninstall: lock", "", None, "changer",
                     lambda s: both(equal(s.changer, 0), s.installed >= 1),
                     lambda s: s.but(installed=s.installed - 1)),
                step("set", "set", "changer", None,
                     effect=lambda s: stored(code, s, "set", flag=ones(s.installed >= 1))),
                step("is_set", "is_set", None, None),
            ),
            {},
            {"a thousand sinks": lambda s: both(equal(s.installed, 1000), equal(s.flag, 1))},
        )


class Published:
    """sync/detail/published.hpp: parts are numbered as they are published, under a lock."""

    PREFIX = "published."
    NUMBERS = ("maker", "address", "sets", "unreleased", "torn")
    WORD = {}

    @classmethod
    def system(cls, tables, mutant=None):
        code = Code(tables, cls.PREFIX, mutant)

        def get(state):
            torn = state.unreleased if code.acquires("get") else state.unreleased + ones(state.address >= 1)
            return state.but(torn=state.torn + torn)

        def put(state):
            state = state.but(sets=state.sets + 1,
                              unreleased=state.unreleased + (0 if code.releases("set") else 1))
            return stored(code, state, "set", address=state.sets)

        return System(
            dict.fromkeys(cls.NUMBERS, "Int"),
            all_zero(cls.NUMBERS),
            {
                "numbers are naturals": natural(cls.NUMBERS),
                "one makes a part at a time": lambda s: s.maker <= 1,
                "the last part is found": lambda s: equal(s.address, s.sets),
                "parts are released as they are published": lambda s: equal(s.unreleased, 0),
                "every part is whole where it is found": lambda s: equal(s.torn, 0),
            },
            (
                step("make: lock", "", None, "maker", lambda s: equal(s.maker, 0)),
                step("set", "set", "maker", None, effect=put),
                step("get", "get", None, None, effect=get),
            ),
            {"a part is found from then on": lambda s: implies(s.sets >= 1, s.address >= 1)},
            {"the thousandth part": lambda s: both(equal(s.address, 1000), equal(s.maker, 1))},
        )


PROTOCOLS = (RelaxedCounter, Shard, RelaxedFlag, Published)
