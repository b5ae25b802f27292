# SPDX-License-Identifier: BSL-1.0
"""Writes questions as SMT-LIB 2, and runs the solvers on them."""

import shutil
import subprocess
from dataclasses import dataclass, field

from terms import SORTS, literal, sort_of

# Time limits for each question: a solver that hits its limit answers `unknown`.
SOLVERS = {
    "z3": ["z3", "-smt2", "-t:20000"],
    "cvc5": ["cvc5", "--lang=smt2", "--incremental", "--tlimit-per=20000"],
}


class Broken(Exception):
    """A solver failed."""


@dataclass(frozen=True)
class Question:
    """Asks for a state in which all conditions hold."""

    name: str
    conditions: tuple = field(compare=False)

    @property
    def text(self):
        return "\n".join(f"(assert {literal(each, sort_of(each) or 'Bool').text})"
                         for each in self.conditions)


def script(variables, questions, logic):
    """The questions as SMT-LIB text. `variables`: the sort of each name."""
    lines = ["; SPDX-License-Identifier: BSL-1.0", f"(set-logic {logic})"]
    lines += [f"(declare-const {name} {SORTS[sort]})" for name, sort in variables.items()]
    for question in questions:
        lines += [f"; {question.name}", "(push 1)", question.text, "(check-sat)", "(pop 1)"]
    return "\n".join(lines) + "\n"


def missing():
    return [solver for solver in SOLVERS if not shutil.which(solver)]


def answers(solver, path, count):
    """The solver's answer to each question of a file: sat, unsat or unknown."""
    done = subprocess.run([*SOLVERS[solver], str(path)], capture_output=True, text=True)
    found = done.stdout.split()
    if len(found) != count or not set(found) <= {"sat", "unsat", "unknown"}:
        said = (done.stdout + done.stderr)[:500]
        raise Broken(f"{solver} {path} answered {len(found)} of {count} questions: {said}")
    return found
