# SPDX-License-Identifier: BSL-1.0
"""The slot of an AtomicBuffer (core/byre/cow/detail/atomic_slot.hpp) and any number of threads that load from it,
refill its stock, and store. The model follows one data and one slot. The slot contains this data or something else:
other data, nothing, or the mark of a locked slot. Owners of the data in other slots are counted like buffers. The
numbers `stock` and `refill_at` are any with 1 <= refill_at < stock. The model has no copiers: they are no owners, and
the proof of the share word covers them."""

from code_tables import Code, Mutant
from share_word import ShareWord
from terms import both, choose, either, equal, implies, negated
from transitions import System, all_end, are_naturals, step, variables

PREFIX = "atomic_slot."
# The places of threads. Except a loader and a freer, each is an owner of the data.
PLACES = {
    "buffer": "owns the data: between operations, at the start of one, or in place of another slot",
    "loader": "is in a load, and is about to take an owner",
    "due": "took an owner, and has to refill the stock",
    "filler": "has added the owners of a refill",
    "returner": "is about to return them, since no refill is due any more",
    "stocker": "has added the owners of a stock, and is about to put the data into the slot",
    "remover": "has a stock, since it replaced the data or could not put it into the slot; returns all but one owner",
    "freer": "learned from its last step that no owner remains: frees the data",
}
OWNERS = [place for place in PLACES if place not in ("loader", "freer")]
LOADERS = ("loader", "due", "filler", "returner")
# The stores and refills of the slot. A thread that takes an owner of the content, or removes the content, has to
# synchronize with them: they come after the writes of the data and after the adds of the owners.
PUBLICATIONS = {
    "published": "all stores and refills",
    "released": "stores and refills that an acquire of the slot's word synchronizes with: all later steps are "
                "read-modify-writes, which continue the release sequences",
    "missed": "stores and refills that a thread did not synchronize with when it took, removed or looked",
}
# `taken` is the field of the slot's word. `offset` is its address minus that of a header, or of nothing. `held` is the
# number of owners that the removers have. `several` is the number in a step of a remover, or of another slot.
NUMBERS = ("owners", *PLACES, "taken", "held", "freed", *PUBLICATIONS)
SORTS = {**dict.fromkeys([*NUMBERS, "offset", "several", "stock", "refill_at"], "Int"), "full": "Bool"}
WORD = dict.fromkeys(("take", "refill", "exchange", "replace"), ("full", "taken", "offset"))

# Wrong forms of the protocol, in addition to the mutants of the slot's table in core.
WRONG = {
    "stock_late": "the data is put into the slot before the owners of the stock are added",
    "refill_late": "a refill takes effect before its owners are added",
    "refill_anything": "a refill does not check that the slot contains its data",
    "return_all": "a store that replaced the data returns all owners of the stock, and keeps using one",
}
MUTANTS = tuple(Mutant("atomic_slot", name) for name in WRONG)


def count(state, places):
    return sum((getattr(state, place) for place in places[1:]), getattr(state, places[0]))


def loading(state):
    return count(state, LOADERS)


def owned(state):
    """The owners that threads hold, and those in the slot."""
    threads = (state.buffer + state.due + (state.filler + state.returner) * (state.refill_at + 1)
               + state.stocker * state.stock + state.held)
    return threads + choose(state.full, state.stock - state.taken, 0)


def is_in_use(state):
    return state.owners >= 1


class Slot(Code):
    """The steps on the slot's word."""

    def __init__(self, tables, mutant=None):
        super().__init__(tables, PREFIX, mutant)
        self.wrong = mutant.change if mutant in MUTANTS else None

    def stored(self, site, state, **fields):
        if self.is_left_out(site):
            return state
        return state.updated(offset=state.offset + self.operand_error(site), **fields)

    def acquires_all(self, site, state):
        seen = state.released if self.acquires(site) else 0
        return state.updated(missed=state.missed + (state.published - seen))

    def publishes(self, site, state):
        released = state.released + (1 if self.releases(site) else 0)
        return state.updated(published=state.published + 1, released=released)

    def take(self, state):
        return self.stored("take", self.acquires_all("take", state), taken=state.taken + 1)

    def is_due(self, state, taken):
        return taken >= state.refill_at

    def may_refill(self, state):
        return both(either(self.wrong == "refill_anything", state.full), self.is_due(state, state.taken))

    def refill(self, state):
        return self.publishes("refill", self.stored("refill", state, taken=state.taken - state.refill_at))

    def put(self, site, full):
        """The effect of a step that replaces the content by the data if `full`, else by something else."""
        def effect(state):
            removed = choose(state.full, state.stock - state.taken, 0)
            after = self.stored(site, self.acquires_all(site, state), full=full, taken=state.taken * 0)
            return self.publishes(site, after).updated(held=state.held + removed)

        return effect


def stores(slot, site):
    """The transitions of a store by this step."""
    full = lambda s: s.full  # noqa: E731
    other = lambda s: negated(s.full)  # noqa: E731
    return (
        step(f"{site}: the data replaces other data", site, "stocker", None, other, slot.put(site, True)),
        step(f"{site}: the data replaces itself", site, "stocker", "remover", full, slot.put(site, True)),
        step(f"{site}: other data replaces the data", site, None, "remover", full, slot.put(site, False)),
        step(f"{site}: other data replaces other data", site, None, None, other, slot.put(site, False)),
    )


def transitions(tables, mutant=None):
    slot, word = Slot(tables, mutant), ShareWord(tables)
    header = {"I1 the header is there": lambda s: equal(s.freed, 0)}
    remains = {**header, "core asserts that an owner remains": lambda s: s.owners >= s.several + 1}
    overfull = {"core asserts that an owner is left in the slot": lambda s: s.taken + 1 < s.stock}
    is_last = lambda s: equal(s.owners, 1)  # noqa: E731

    def finds_due(s):
        return slot.is_due(s, s.taken + 1)

    # `several` is the number of owners that the remover has. Each of the other removers has at least one.
    def is_own_number(s):
        return both(s.several <= s.held - (s.remover - 1), implies(equal(s.remover, 1), equal(s.several, s.held)))

    def unstocked(s):
        returned = s.several - (0 if slot.wrong == "return_all" else 1)
        return word.drop_owners(s, returned).updated(held=s.held - s.several)

    def adds(s, number, wrong):
        return s if slot.wrong == wrong else word.add_owners(s, number)

    return (
        # Steps of buffers, and of other slots that contain the data.
        step("clone", "", "buffer", "buffer", effect=lambda s: word.add_owner(s).updated(buffer=s.buffer + 1),
             needs=header),
        step("another slot adds owners", "", "buffer", "buffer",
             effect=lambda s: word.add_owners(s, s.several).updated(buffer=s.buffer + s.several), needs=header),
        step("another slot returns owners", "", "buffer", "buffer", effect=lambda s: word.drop_owners(s, s.several),
             needs=remains, number=lambda s: s.several + 1),
        step("drop", "", "buffer", None, lambda s: negated(is_last(s)), word.drop_owner, header),
        step("drop, the last", "", "buffer", "freer", is_last, word.drop_owner, header),
        step("free", "", "freer", None, effect=lambda s: s.updated(freed=s.freed + 1)),
        # A load. At most stock-refill_at threads load from one slot at once.
        step("load", "", None, "loader", lambda s: loading(s) < s.stock - s.refill_at),
        step("take", "take", "loader", "buffer", lambda s: both(s.full, negated(finds_due(s))), slot.take, overfull),
        step("take: a refill is due", "take", "loader", "due", lambda s: both(s.full, finds_due(s)), slot.take,
             overfull),
        step("take: other data", "take", "loader", None, lambda s: negated(s.full), slot.take),
        step("refill: add", "add_owners", "due", "filler", effect=lambda s: adds(s, s.refill_at, "refill_late"),
             needs=header),
        step("refill", "refill", "filler", "buffer", slot.may_refill, slot.refill, header),
        step("refill: is not due", "peek", "filler", "returner", lambda s: negated(slot.may_refill(s)), needs=header),
        step("refill: return", "drop_owners", "returner", "buffer",
             effect=lambda s: word.drop_owners(s, s.refill_at),
             needs={**header, "core asserts that an owner remains": lambda s: s.owners >= s.refill_at + 1}),
        # A store.
        step("stock", "add_owners", "buffer", "stocker", effect=lambda s: adds(s, s.stock - 1, "stock_late"),
             needs=header),
        *stores(slot, "exchange"),
        *stores(slot, "replace"),
        step("replace: finds other content", "peek", "stocker", "remover",
             effect=lambda s: s.updated(held=s.held + s.stock)),
        step("unstock", "drop_owners", "remover", "buffer", is_own_number, unstocked,
             {**header, "core asserts that an owner remains": lambda s: s.owners >= s.several}),
        step("look", "look", None, None, effect=lambda s: slot.acquires_all("look", s)),
    )


def initial(state):
    return both(*(equal(getattr(state, name), 1 if name in ("owners", "buffer") else 0) for name in NUMBERS),
                equal(state.offset, 0), negated(state.full), state.several >= 1, are_limits(state))


def are_limits(state):
    return both(state.refill_at >= 1, state.refill_at < state.stock)


INVARIANTS = {
    "numbers are naturals": are_naturals(NUMBERS, lambda s: s.several >= 1, are_limits),
    "S1 owners are counted": lambda s: equal(s.owners, owned(s)),
    "S1 each remover has an owner": lambda s: both(s.held >= s.remover, implies(equal(s.remover, 0),
                                                                               equal(s.held, 0))),
    "S3 loads that have to refill limit taken": lambda s: implies(s.full, s.taken < s.refill_at + s.due + s.filler),
    "at most stock-refill_at threads load at once": lambda s: loading(s) <= s.stock - s.refill_at,
    "the address is that of a header": lambda s: equal(s.offset, 0),
    "I1 no thread frees data in use": lambda s: implies(is_in_use(s), equal(s.freer + s.freed, 0)),
    "I1 one thread frees unused data": lambda s: implies(negated(is_in_use(s)), equal(s.freer + s.freed, 1)),
    "every publication can be acquired": lambda s: equal(s.published, s.released),
    "a thread that takes, removes or looks has acquired every publication": lambda s: equal(s.missed, 0),
}

ASSERTIONS = {
    "S2 an owner is left in the slot": lambda s: implies(s.full, s.taken < s.stock),
    "I1 data in the slot is not freed": lambda s: implies(s.full, equal(s.freer + s.freed, 0)),
    "I1 data that a thread owns is not freed": lambda s: implies(
        count(s, OWNERS) >= 1, equal(s.freer + s.freed, 0)),
    "I4 no thread is the only owner of data in the slot": lambda s: implies(
        both(s.full, count(s, OWNERS) >= 1), s.owners >= 2),
    "I1 data is not freed twice": lambda s: s.freed + s.freer <= 1,
    "I1 unused data is freed": lambda s: implies(
        both(negated(s.full), equal(count(s, OWNERS), 0)), equal(s.freer + s.freed, 1)),
}

SAMPLES = {
    "1000 owners taken, and a refill under way": lambda s: both(
        s.full, equal(s.taken, 1000), equal(s.refill_at, 1000), equal(s.stock, 3000), equal(s.filler, 1),
        equal(s.buffer, 999), equal(s.stocker + s.remover + s.returner + s.due, 0)),
    "7 owners taken and dropped, and a storer stopped": lambda s: both(
        equal(s.remover, 1), equal(s.stock, 100), equal(s.held, 93), equal(s.owners, 93), negated(s.full)),
    "as many loads as may be, all with a refill due": lambda s: both(
        s.full, equal(s.stock, 100), equal(s.refill_at, 10), equal(s.due, 90), equal(s.taken, 99)),
    "the data replaced itself during an old refill": lambda s: both(
        s.full, equal(s.taken, 0), equal(s.filler, 1), equal(s.remover, 1), equal(s.stock, 4), equal(s.refill_at, 2)),
    "freed after 1000 stores and refills": lambda s: both(equal(s.freed, 1), equal(s.published, 1000)),
}


def system(tables, mutant=None):
    return System(SORTS, initial, INVARIANTS, transitions(tables, mutant), ASSERTIONS, SAMPLES,
                  split_with={"stock": 4, "refill_at": 2})


# The steps of a thread at each place. At least one of them is possible in every state, so neither a load nor a store
# waits. A remover can always return its number of owners, so it is not listed.
NEXT = {
    "loader": ("take", "take: a refill is due", "take: other data"),
    "due": ("refill: add",),
    "filler": ("refill", "refill: is not due"),
    "returner": ("refill: return",),
    "stocker": ("exchange: the data replaces other data", "exchange: the data replaces itself"),
}
# Steps that start an operation. A program takes a finite number of them. An add of several owners counts as several.
BEGINS = ("clone", "another slot adds owners", "another slot returns owners", "load", "stock", "look",
          *(f"{site}: other data replaces {which} data" for site in ("exchange", "replace")
            for which in ("the", "other")))
# For each place, an upper bound on the steps that a thread at this place still takes if it starts no operation. Each
# owner that is left as a buffer takes two: a drop, and a free.
ENDS = {"freer": 1, "buffer": 2, "remover": 3, "stocker": 4, "returner": 3, "filler": 4, "due": 5, "loader": 6}
A_BEGINNING = 7


def progress(tables, mutant=None):
    """The questions that prove that no thread waits, and that all threads end if each starts finitely many operations,
    under every schedule."""
    whole = system(tables, mutant)
    steps = {step.name: step for step in whole.transitions}
    state = variables(SORTS)
    for place, names in NEXT.items():
        possible = either(*(steps[name].is_possible(state) for name in names))
        yield whole.ask(f"always: no {place} waits", whole.holds(state), getattr(state, place) >= 1,
                        negated(possible)), "unsat"

    def counted(step):
        if step.name not in BEGINS:
            return step
        number = (lambda s: s.several) if step.name == "another slot adds owners" else lambda s: 1
        return step.updated(guard=lambda s: both(s.left >= number(s), step.guard(s)),
                            effect=lambda s: step.effect(s).updated(left=s.left - number(s)))

    def rank(state):
        return sum((getattr(state, place) * weight for place, weight in ENDS.items()), state.left * A_BEGINNING)

    def has_ended(state):
        # `several` is any number, and need not be that of a remover. So a remover is never stuck.
        return either(state.remover >= 1, equal(count(state, [*PLACES]), 0))

    invariants = {**whole.invariants, "left is a natural": lambda s: s.left >= 0}
    programs = System({**SORTS, "left": "Int"}, whole.initial, invariants,
                      tuple(counted(step) for step in whole.transitions), {}, {})
    yield from all_end("programs end", programs, rank, has_ended)
