# SPDX-License-Identifier: BSL-1.0
"""The steps of a slot, as the transitions of its proof take them: see steps/atomic_slot.cpp for the runs."""

import itertools

import atomic_slot
from runs import Run, steps_of
from transitions import State

BUFFERS = 2
FIELDS = ("full", "taken", "offset")
LAYOUTS = (((8, 3), range(8)), ((1 << 15, 1 << 12), (0, 4094, 4095, 32767)))
REST, LOAD, PUT_DATA, PUT_OTHER, PUT_BOTH = OTHERS = range(5)
DATA, NOTHING, LOCKED = STARTS = range(3)
OPERATIONS = ("load", "look", "put_data", "put_other", "replace_data_by_data", "replace_data_by_other",
              "replace_other_by_data", "replace_other_by_other")


def text(site, state):
    if site in ("add_owners", "drop_owners"):
        return f"{state.owners}"
    return f"{'data' if state.full else 'other'}.{state.taken}"


class Slot(Run):
    """A thread that loads from the slot or stores into it."""

    def __init__(self, steps, state, line="", others=None):
        super().__init__(steps, state, None, line, text, others)

    def another_acts(self, others):
        put_other = ["put_other", "load", "load", "load"]
        for operation in {LOAD: ["load"], PUT_DATA: ["put_data"], PUT_OTHER: put_other,
                          PUT_BOTH: [*put_other, "put_data"]}.get(others, []):
            another = Slot(self.steps, self.state)
            getattr(another, operation)()
            self.state = another.state

    def peek(self):
        self.visit("peek")
        return self.found

    def decide(self, name):
        """Takes a transition for which the last step has found the reason."""
        if not self.steps[name].is_possible(self.found):
            raise AssertionError(f"{self.line}: the model cannot {name}")
        self.state, self.place = self.steps[name].after(self.state), self.steps[name].end

    def compare_exchange(self, site, name, expects):
        """Loads the slot, and compares and exchanges as long as it is as the thread expects. True if it succeeded."""
        seen = self.peek()
        while expects(seen):
            if self.visit(site, name, seen=seen, fields=FIELDS):
                return True
            seen = self.found
        return False

    def load(self):
        self.take("load")
        self.visit("take", "take", "take: a refill is due", "take: other data")
        answer = int(self.found.full)
        if self.place == "due":
            self.visit("add_owners", "refill: add")
            may_refill = self.steps["refill"].guard
            if not self.compare_exchange("refill", "refill", may_refill):
                self.decide("refill: is not due")
                self.visit("drop_owners", "refill: return")
        return answer

    def look(self):
        self.visit("look", "look")
        return int(self.found.full)

    def stock(self):
        self.place = "buffer"
        self.visit("add_owners", "stock")

    def unstock(self, taken):
        """Returns the owners of a stock, except those that loads have taken."""
        self.state = self.state.updated(several=self.state.stock - taken)
        if self.state.several > 1:
            self.visit("drop_owners", "unstock")
        else:
            self.take("unstock")

    def put(self, what):
        self.visit("exchange", f"exchange: {what} replaces other data",
                   f"exchange: {'the data replaces itself' if what == 'the data' else 'other data replaces the data'}")
        found = self.found
        if found.full:
            self.unstock(found.taken)
        return int(found.full)

    def put_data(self):
        self.stock()
        return self.put("the data")

    def put_other(self):
        return self.put("other data")

    def replace(self, name, expects):
        stocked = self.place == "stocker"
        is_done = self.compare_exchange("replace", f"replace: {name}", expects)
        if is_done and self.found.full:
            self.unstock(self.found.taken)
        if stocked and not is_done:
            self.decide("replace: finds other content")
            self.unstock(0)
        return int(is_done)

    def replace_data_by_data(self):
        self.stock()
        return self.replace("the data replaces itself", lambda seen: seen.full)

    def replace_data_by_other(self):
        return self.replace("other data replaces the data", lambda seen: seen.full)

    def replace_other_by_data(self):
        self.stock()
        return self.replace("the data replaces other data", lambda seen: not seen.full)

    def replace_other_by_other(self):
        return self.replace("other data replaces other data", lambda seen: not seen.full)


def runs(layout, start, taken):
    """The operation, what others do, and after which step, of each run from this state."""
    for operation, others in itertools.product(OPERATIONS, OTHERS):
        loads = (operation == "load") + (others == LOAD)
        if (start == LOCKED and operation.startswith("replace_other")) or taken + loads >= layout[0]:
            continue
        for after in range(1, 2 if others == REST else 5):
            yield operation, others, after


# For each named state of the proof: `stock`, `refill_at`, and steps that lead to the state from the first one.
PUT = ["stock", "exchange: the data replaces other data"]
WITNESSES = {
    "1000 owners taken, and a refill under way": (
        3000, 1000, [*PUT, *(["load", "take"] * 999), "load", "take: a refill is due", "refill: add"]),
    "7 owners taken and dropped, and a storer stopped": (
        100, 10, [*PUT, *(["load", "take"] * 7), "exchange: other data replaces the data", *(["drop"] * 7)]),
    "as many loads as may be, all with a refill due": (
        100, 10, [*PUT, *(["load", "take"] * 9), *(["load"] * 90), *(["take: a refill is due"] * 90)]),
    "the data replaced itself during an old refill": (
        4, 2, ["clone", *PUT, "load", "take", "load", "take: a refill is due", "refill: add", "stock",
               "exchange: the data replaces itself"]),
    "freed after 1000 stores and refills": (
        4, 2, [*(["exchange: other data replaces other data"] * 1000), "drop, the last", "free"]),
}


def check_witnesses(steps):
    """Raises an error if the steps of a witness are not possible, or do not lead to its state."""
    for name, condition in atomic_slot.SAMPLES.items():
        stock, refill_at, names = WITNESSES[name]
        state = State({**dict.fromkeys(atomic_slot.SORTS, 0), "full": False, "buffer": 1, "owners": 1, "several": 1,
                       "stock": stock, "refill_at": refill_at})
        run = Slot(steps, state)
        run.another(*names)
        if not (atomic_slot.initial(state) and condition(run.state)):
            raise AssertionError(f"no run leads to the state: {name}")


def slot_lines(tables):
    steps = steps_of(atomic_slot, tables)
    check_witnesses(steps)
    for layout, numbers_taken in LAYOUTS:
        stock, refill_at = layout
        for start, taken in (*((DATA, number) for number in numbers_taken), (NOTHING, 0), (LOCKED, 0)):
            state = State({**dict.fromkeys(atomic_slot.SORTS, 0), "full": start == DATA, "taken": taken,
                           "buffer": BUFFERS, "owners": BUFFERS + (stock - taken if start == DATA else 0),
                           "stock": stock, "refill_at": refill_at, "several": 1})
            for operation, others, after in runs(layout, start, taken):
                run = Slot(steps, state, f"atomic_slot {operation} {stock} {others} {after} {start} {taken}",
                           lambda run, others=others: run.another_acts(others))
                run.others_after = after
                yield run.line_of(operation)
