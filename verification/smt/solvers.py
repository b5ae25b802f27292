# SPDX-License-Identifier: BSL-1.0
"""Writes questions as SMT-LIB 2, and has each solver answer them."""

import shutil
import subprocess
from dataclasses import dataclass, field

from terms import SORTS, literal, sort_of

# A limit for each question, so that a solver says `unknown` instead of going on for ever.
SOLVERS = {
    "z3": ["z3", "-smt2", "-t:20000"],
    "cvc5": ["cvc5", "--lang=smt2", "--incremental", "--tlimit-per=20000"],
}


class Broken(Exception):
    """A tool that should work does not."""


@dataclass(frozen=True)
class Question:
    """Whether there is a state in which all the conditions hold."""

    name: str
    conditions: tuple = field(compare=False)

    @property
    def text(self):
        return "\n".join(f"(assert {literal(each, sort_of(each) or 'Bool').text})"
                         for each in self.conditions)


def script(variables, questions, logic):
    """`variables`: a sort for each name."""
    lines = ["; SPDX-License-Identifier: BSL-1.0", f"(set-logic {logic})"]
    lines += [f"(declare-const {name} {SORTS[sort]})" for name, sort in variables.items()]
    for question in questions:
        lines += [f"; {question.name}", "(push 1)", question.text, "(check-sat)", "(pop 1)"]
    return "\n".join(lines) + "\n"


def missing():
    return [solver for solver in SOLVERS if not shutil.which(solver)]


def answers(solver, path, count):
    """What it says to each question of a file: sat, unsat or unknown."""
    done = subprocess.run([*SOLVERS[solver], str(path)], capture_output=True, text=True)
    found = done.stdout.split()
    if len(found) != count or not set(found) <= {"sat", "unsat", "unknown"}:
        said = (done.stdout + done.stderr)[:500]
        raise Broken(f"{solver} {path} answered {len(found)} of {count} questions: {said}")
    return found
