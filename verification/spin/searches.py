# SPDX-License-Identifier: BSL-1.0
"""Which searches there are: models, what is asked of each, and the mutants that have to be refuted."""

from dataclasses import dataclass

# What the threads do, as macros of share_word.pml.
MODELS = {
    "any programs": [],
    "any programs, spurious failures": ["SPURIOUS"],
    "one write each, one clone": ["SHORT_PROGRAMS"],
    "one write each": ["SHORT_PROGRAMS", "CLONES_IN_ALL=0"],
    "writers that may wait": ["WRITERS"],
}


@dataclass(frozen=True)
class Property:
    macros: tuple
    compile: tuple
    search: tuple = ()


SAFETY = ("-DSAFETY",)
FAIR_CYCLES = ("-a", "-f")
# Liveness needs a copy of the states for each process, and two more.
PROPERTIES = {
    "invariants": Property(("INVARIANTS",), SAFETY),
    "no deadlock": Property((), SAFETY),
    "waiters are released": Property(("RELEASED",), ("-DNFAIR=3",), FAIR_CYCLES),
    "all end, the data is freed": Property(("FREED",), ("-DNFAIR=3",), FAIR_CYCLES),
}


@dataclass(frozen=True)
class Search:
    model: str
    owners: int
    property: str
    deep: bool = False
    mutant: str = ""
    refuted_by: str = ""  # of a mutant: what spin has to say

    @property
    def name(self):
        return f"{self.mutant or self.model} / {self.owners} / {self.property}"

    @property
    def must_reach_all(self):
        """Whether every step of the word has to be taken somewhere, lest this prove nothing."""
        return self.model == ANY and self.property == NO_DEADLOCK and not self.mutant

    @property
    def size(self):
        if self.owners <= 3:
            return "small"
        return "huge" if self.model == ANY and self.owners > 4 else "large"

    @property
    def macros(self):
        mutant = [self.mutant.upper().replace(" ", "_")] if self.mutant else []
        chosen = [*MODELS[self.model], *PROPERTIES[self.property].macros, *mutant]
        return [f"-DOWNERS_AT_MOST={self.owners}", *(f"-D{macro}" for macro in chosen)]


ANY, SPURIOUS, SHORT, SHORTER, WRITERS = MODELS
INVARIANTS, NO_DEADLOCK, RELEASED, FREED = PROPERTIES

CLAIMS = [
    Search(ANY, 3, INVARIANTS),
    Search(ANY, 3, NO_DEADLOCK),
    Search(ANY, 3, RELEASED),
    Search(SPURIOUS, 3, INVARIANTS),
    Search(SHORT, 3, FREED),
    Search(WRITERS, 4, FREED),
    Search(WRITERS, 5, INVARIANTS),
    Search(ANY, 4, INVARIANTS),
    Search(ANY, 4, NO_DEADLOCK, deep=True),
    Search(ANY, 4, RELEASED, deep=True),
    Search(SPURIOUS, 4, INVARIANTS, deep=True),
    Search(SHORT, 4, INVARIANTS, deep=True),
    Search(SHORT, 4, FREED, deep=True),
    Search(WRITERS, 5, NO_DEADLOCK, deep=True),
    Search(WRITERS, 5, FREED, deep=True),
    Search(SHORTER, 5, INVARIANTS, deep=True),
    Search(SHORTER, 5, NO_DEADLOCK, deep=True),
    Search(ANY, 5, INVARIANTS, deep=True),
]

# What spin has to say of a mutant: the assertion that failed, or this.
HANGS = "invalid end state"
NEVER_ENDS = "acceptance cycle"
FREED_IN_USE = "alive && users == 0"

MUTANTS = [
    Search(model, 3, asked, mutant=name, refuted_by=reason)
    for name, model, asked, reason in [
        ("writes ignore copies", ANY, INVARIANTS, "I4"),
        ("writes ignore read only", ANY, NO_DEADLOCK, "!read_only"),
        ("unique ignores copies", ANY, INVARIANTS, "I4"),
        ("last drop ignores copies", ANY, INVARIANTS, "I1"),
        ("last drop ignores copies", ANY, NO_DEADLOCK, FREED_IN_USE),
        ("steal ignores copies", ANY, INVARIANTS, "I4"),
        ("steal ignores owners", ANY, INVARIANTS, "I5"),
        ("stop waiting left out", ANY, INVARIANTS, "I3"),
        ("stop waiting left out", SHORT, FREED, NEVER_ENDS),
        ("last owner never waits", WRITERS, INVARIANTS, "I6"),
        ("count then lock", ANY, INVARIANTS, "I1"),
        ("count then lock", ANY, NO_DEADLOCK, FREED_IN_USE),
        ("waiting is not cleared", ANY, INVARIANTS, "I3"),
        ("wait not announced", WRITERS, NO_DEADLOCK, HANGS),
        ("wait not announced", WRITERS, FREED, NEVER_ENDS),
        ("sleep unchecked", WRITERS, NO_DEADLOCK, HANGS),
        ("notify without lock", WRITERS, NO_DEADLOCK, HANGS),
        ("wake through the header", ANY, NO_DEADLOCK, "alive"),
        ("without wake after copy", WRITERS, NO_DEADLOCK, HANGS),
        ("without wake after copy", ANY, RELEASED, NEVER_ENDS),
        ("last copy does not free", ANY, INVARIANTS, "NO_LEAK"),
        ("sole copier ignores owners", ANY, INVARIANTS, "SOLE_COPIER"),
        ("without undo", ANY, INVARIANTS, "I1"),
        ("without undo", ANY, NO_DEADLOCK, FREED_IN_USE),
        ("without wake after abandon", SHORT, NO_DEADLOCK, HANGS),
        ("without wake after abandon", ANY, RELEASED, NEVER_ENDS),
    ]
]


def searches(deep, owners=None):
    """All searches of a quick or deep run, those of so many owners only if that is said."""
    chosen = [claim for claim in CLAIMS if deep or not claim.deep] + MUTANTS
    return [search for search in chosen if owners in (None, search.owners)]
