# SPDX-License-Identifier: BSL-1.0
"""Which proofs there are, by the prefix of the rows in core's tables that each is of."""

from dataclasses import dataclass

import header
import share_word_progress
import share_word_proof
from share_word import FIELDS, ShareWord


@dataclass(frozen=True)
class Part:
    name: str
    logic: str
    sorts: dict
    pairs: tuple  # of a question and the answer that proves what it asks for


class ShareWordProof:
    prefix = "share_word."
    # Rows that no transition is of, and why.
    not_modelled = {"use_count": "a number for people"}

    @staticmethod
    def parts(tables, mutant=None):
        system = share_word_proof.system(tables, mutant)
        claims = share_word_progress.claims(tables, mutant)
        yield Part("header", "QF_BV", header.SORTS, tuple(header.questions(tables, mutant)))
        yield Part("share_word", "QF_LIA", system.sorts, tuple(system.questions()))
        yield Part("waiters", "QF_LIA", system.sorts, tuple(share_word_progress.released(tables, mutant)))
        yield Part("claims", "QF_LIA", claims.sorts,
                   (*claims.questions(), *share_word_progress.claims_end(tables, mutant)))

    @staticmethod
    def split(tables, site):
        """Where the step at this site is two."""
        system = share_word_proof.system(tables)
        pairs = [pair for step in system.transitions if site in step.sites
                 for pair in system.split(step, system.transitions, FIELDS)]
        sorts = {**system.sorts, **{f"{name}_then": sort for name, sort in system.sorts.items()}}
        yield Part("share_word in two steps", "QF_LIA", sorts, tuple(pairs))

    @staticmethod
    def sites(tables):
        """All that a transition is of."""
        return {site for step in share_word_proof.transitions(ShareWord(tables)) for site in step.sites}


PROOFS = [ShareWordProof]
