# SPDX-License-Identifier: BSL-1.0
"""The steps of counters, of the flag that there are sinks, and of what is published, as protocol_steps.py
prints them."""

import counters
from runs import Run, start_of, steps_of

MOST = 3


class Counter(Run):
    def add(self):
        self.visit("add", "add")
        return self.found.value

    def subtract(self):
        self.visit("subtract", "subtract")
        return "-"

    def value(self):
        self.visit("value", "value")
        return self.found.value

    def set(self):
        self.visit("set", "set")
        return "-"


class Shard(Run):
    def add(self):
        self.visit("read", "count: load")
        self.visit("write", "count: store")
        return "-"

    def get(self):
        self.visit("read", "snapshot")
        return self.found.cell


class Flag(Run):
    def is_set(self):
        self.visit("is_set", "is_set")
        return int(self.found.flag != 0)

    def set(self):
        self.visit("set", "set")
        return "-"


class Published(Run):
    def get(self):
        self.visit("get", "get")
        return self.found.address

    def set(self):
        self.visit("set", "set")
        return "-"


def lines_of(tables, run_type, protocol, variable, operation, place, starts):
    """`starts`: the values of the variables, and the words for them."""
    steps = steps_of(protocol, tables)
    for word, values in starts:
        state = start_of(protocol, **values, **({place: 1} if place else {}))
        run = run_type(steps, state, place, f"{protocol.PREFIX}{operation} {word}",
                       lambda site, s: getattr(s, variable))
        yield run.line_of(operation)


def counter_lines(tables):
    pairs = [(f"{now} {some}", now, some) for now in range(MOST + 1) for some in range(MOST + 1)]
    for operation in ("add", "subtract", "value", "set"):
        yield from lines_of(tables, Counter, counters.RelaxedCounter, "value", operation, None,
                            [(word, {"value": now + 1, "some": some}) for word, now, some in pairs])
    for operation in ("add", "get"):
        yield from lines_of(tables, Shard, counters.Shard, "cell", operation, "resting",
                            [(word, {"cell": now, "some": some}) for word, now, some in pairs])
    for operation in ("is_set", "set"):
        place = "changer" if operation == "set" else None
        yield from lines_of(tables, Flag, counters.RelaxedFlag, "flag", operation, place,
                            [(word, {"flag": min(now, 1), "installed": some}) for word, now, some in pairs])
    for operation in ("get", "set"):
        place = "maker" if operation == "set" else None
        yield from lines_of(tables, Published, counters.Published, "address", operation, place,
                            [(f"{now}", {"address": now, "sets": now}) for now in range(MOST + 1)])
