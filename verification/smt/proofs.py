# SPDX-License-Identifier: BSL-1.0
"""The list of proofs, and the rows of core's tables that each covers."""

from dataclasses import dataclass, field

import atomic_slot
import header
import lock_table
import parking_lot
import ref_count
import share_word_in_order
import share_word_progress
import share_word_proof
from share_word import NAME


@dataclass(frozen=True)
class Part:
    """A part of a proof: questions over one set of variables."""

    name: str
    logic: str
    sorts: dict
    pairs: tuple  # questions, each with the answer that the proof requires


@dataclass(frozen=True)
class Proof:
    """The proof of a protocol whose rows begin with `prefix`."""

    prefix: str
    system: callable  # takes the tables and a mutant, and returns a System
    word: dict  # for each step that a mutant can split: the variables that the step loads and stores
    more: callable = lambda tables, mutant: ()  # returns the parts in addition to the system
    not_modelled: dict = field(default_factory=dict)  # rows without a transition, and why
    own_mutants: tuple = ()
    logic: str = "QF_LIA"
    weak_order: str = "departure"  # a word in the questions that a weaker order has to fail

    @property
    def name(self):
        return self.prefix.removesuffix(".")

    def mutants(self, tables):
        """The mutants of core's tables, and the proof's own."""
        return [*(mutant for mutant in tables["mutants"] if mutant.row.startswith(self.prefix)),
                *self.own_mutants]

    def parts(self, tables, mutant=None):
        if mutant and mutant.change == "plain":
            yield self.in_two_steps(tables, mutant.row.removeprefix(self.prefix))
            return
        system = self.system(tables, mutant)
        yield Part(self.name, self.logic, system.sorts, tuple(system.questions()))
        yield from self.more(tables, mutant)

    def in_two_steps(self, tables, site):
        """The part for the mutant that splits the step at this site into a load and a store."""
        system = self.system(tables)
        pairs = [pair for step in system.transitions if site in step.sites
                 for pair in system.split(step, system.transitions, self.word[site])]
        sorts = {**system.sorts, **{f"{name}_then": sort for name, sort in system.sorts.items()}}
        return Part(f"{self.name} in two steps", "QF_LIA", sorts, tuple(pairs))

    def rows_without_model(self, tables):
        rows = {name.removeprefix(self.prefix) for name in tables["sites"] if name.startswith(self.prefix)}
        modelled = {site for step in self.system(tables).transitions for site in step.sites}
        return sorted(rows - modelled - set(self.not_modelled))


def more_of_share_word(tables, mutant):
    claims = share_word_progress.claims(tables, mutant)
    waiters = tuple(share_word_progress.released(tables, mutant))
    yield Part("share_word waiters", "QF_LIA", share_word_proof.SORTS, waiters)
    yield Part("share_word claims", "QF_LIA", claims.sorts, tuple(claims.questions()))
    yield Part("share_word programs", "QF_LIA", {**share_word_proof.SORTS, "left": "Int"},
               tuple(share_word_progress.programs_end(tables, mutant)))
    in_order = share_word_in_order.system(tables, mutant)
    yield Part("share_word in order", "QF_LIA", in_order.sorts, tuple(in_order.questions()))
    yield Part("share_word header", "QF_BV", header.SORTS, tuple(header.questions(tables, mutant)))


def more_of_atomic_slot(tables, mutant):
    yield Part("atomic_slot progress", "QF_NIA", {**atomic_slot.SORTS, "left": "Int"},
               tuple(atomic_slot.progress(tables, mutant)))


def proof_of_bucket(model):
    def wakes(tables, mutant):
        yield Part(f"{model.PREFIX}wakes".replace(".", " "), "QF_LIA", dict.fromkeys(model.NUMBERS, "Int"),
                   tuple(model.progress(tables, mutant)))

    return Proof(model.PREFIX, model.system, {}, wakes, own_mutants=model.MUTANTS)


PROOFS = [
    Proof(NAME, share_word_proof.system, share_word_proof.WORD, more_of_share_word,
          {"use_count": "a number for information only", "load_in_order": "modeled in the part 'in order'"}),
    Proof(atomic_slot.PREFIX, atomic_slot.system, atomic_slot.WORD, more_of_atomic_slot,
          own_mutants=atomic_slot.MUTANTS, logic="QF_NIA", weak_order="publication"),
    Proof(ref_count.PREFIX, ref_count.system, ref_count.WORD),
    *(proof_of_bucket(model) for model in (parking_lot, lock_table)),
]
