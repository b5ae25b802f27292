#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Proves the protocols for any number of threads with two solvers, and refutes every mutant.

Exit status: 0 if both solvers gave every answer that the proofs require, and refuted each mutant by a question
that fits its kind of mistake; 1 if not; 2 for an invalid command line; 77 if a solver is not installed."""

import argparse
import concurrent.futures
import contextlib
import pathlib
import sys
import tempfile
import time
from dataclasses import dataclass

import header
import solvers
from code_tables import ORDERS, read_tables
from proofs import PROOFS
from solvers import Question

SKIPPED = 77


@dataclass(frozen=True)
class Task:
    """The questions of one part of a proof, for the shipped code or for one mutant."""

    part: object
    pairs: tuple
    mutant: str = ""

    @property
    def file(self):
        return f"{self.part.name}{'.mutants' if self.mutant else ''}.smt2".replace(" ", "_")


def arguments_of(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=pathlib.Path, help="the program built from tables.cpp")
    parser.add_argument("--only", metavar="TEXT", default="",
                        help="run only proofs and mutants whose name contains TEXT")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="write the SMT-LIB files to this folder")
    arguments = parser.parse_args(argv)
    if not arguments.tables.is_file():
        parser.error(f"program not found: {arguments.tables}. Build it with ninja.")
    if arguments.keep and not arguments.keep.is_dir():
        parser.error(f"folder not found: {arguments.keep}. Create it first.")
    return arguments


def tasks_of(proof, tables):
    """The tasks for the shipped code and for every mutant. A mutant's tasks have only questions that differ from
    the shipped ones."""
    shipped = list(proof.parts(tables))
    asked = {part.name: {question.text for question, _ in part.pairs} for part in shipped}
    for part in shipped:
        yield Task(part, part.pairs)
    of_mutants = {part.name: [] for part in shipped}  # in the order of the parts, since the first refutation counts
    for mutant in proof.mutants(tables):
        for part in proof.parts(tables, mutant):
            # Questions that require "sat" are asked only for the shipped code. They show that its proof is not
            # vacuous: the states that they ask for exist.
            new = (pair for pair in part.pairs
                   if pair[1] == "unsat" and pair[0].text not in asked.get(part.name, ()))
            of_mutants.setdefault(part.name, []).append(Task(part, tuple(new), mutant.name))
    for tasks in of_mutants.values():
        yield from tasks


def in_files(tasks):
    """The tasks by file. The questions in a file belong to one part, either for the shipped code or for all mutants."""
    files = {}
    for task in tasks:
        if task.pairs:
            files.setdefault(task.file, []).append(task)
    return files


def write(path, tasks):
    questions = [Question(f"{task.mutant}: {question.name}".lstrip(": "), question.conditions)
                 for task in tasks for question, _ in task.pairs]
    path.write_text(solvers.script(tasks[0].part.sorts, questions, tasks[0].part.logic))


def faults_of(task, found):
    """Two lists: the questions with an answer other than the required one, and the questions on which the solvers
    differ or that a solver did not answer. `found`: the answers of all solvers to each question."""
    wrong = [question.name for (question, wanted), each in zip(task.pairs, found) if set(each) != {wanted}]
    unclear = [question.name for (question, _), each in zip(task.pairs, found)
               if len(set(each)) > 1 or "unknown" in each]
    return wrong, unclear


def verdict_on_mutant(mutant, weak_order, refuted_by, unclear):
    """The verdict, and True if it is as required: the first question that refutes a mutant has to fit the mutant's
    kind of mistake."""
    wanted = (weak_order if mutant.change in ORDERS else  # e.g. a departure that no acquire synchronizes with
              "in two steps: " if mutant.change == "plain" else "")
    if unclear:
        return f"UNCLEAR: {unclear[0]}", False
    if not refuted_by:
        return "NOT REFUTED", False
    if wanted not in refuted_by[0]:
        return f"REFUTED BY {refuted_by[0]!r}, NOT BY '{wanted}'", False
    return f"refuted: {refuted_by[0]}", True


def answered(files, folder):
    """Yields each task with the answers of all solvers to each of its questions."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ends = [[pool.submit(solvers.answers, solver, folder / name, sum(len(task.pairs) for task in tasks))
                 for solver in solvers.SOLVERS] for name, tasks in files.items()]
        for tasks, end in zip(files.values(), ends):
            found = zip(*(each.result() for each in end))
            for task in tasks:
                yield task, [next(found) for _ in task.pairs]


def rows_of(arguments, tables, asked, folder):
    """Yields for each proof and mutant: its name, its number of questions, the verdict, and True if the verdict is as
    required."""
    files = in_files([task for task in asked if arguments.only in (task.mutant or task.part.name)])
    for name, of_file in files.items():
        write(folder / name, of_file)
    mutants = {mutant.name: ((mutant, proof.weak_order), [], [], []) for proof in PROOFS
               for mutant in proof.mutants(tables) if arguments.only in mutant.name}
    for task, found in answered(files, folder):
        wrong, unclear = faults_of(task, found)
        if not task.mutant:
            yield task.part.name, len(found), f"NOT PROVED: {'; '.join(wrong)}" if wrong else "proved", not wrong
            continue
        for kept, new in zip(mutants[task.mutant][1:], (wrong, unclear, [len(found)])):
            kept.extend(new)
    for name, (kind, wrong, unclear, questions) in mutants.items():
        yield name, sum(questions), *verdict_on_mutant(*kind, wrong, unclear)
    for proof in PROOFS:
        for row in proof.rows_without_model(tables):
            yield proof.prefix + row, 0, "NO TRANSITION FOR THIS STEP", False


def main(argv):
    arguments = arguments_of(argv)
    begin = time.monotonic()
    tables = read_tables(arguments.tables)
    asked = [task for proof in PROOFS for task in tasks_of(proof, tables)]
    if not any(arguments.only in (task.mutant or task.part.name) for task in asked):
        print(f"run.py: no proof or mutant matches '{arguments.only}'", file=sys.stderr)
        return 2
    if missing := solvers.missing():
        print(f"run.py: not installed: {', '.join(missing)}; skipped. On Debian: apt-get install z3 cvc5",
              file=sys.stderr)
        return SKIPPED
    with contextlib.ExitStack() as stack:
        passing = tempfile.TemporaryDirectory(prefix="byre-smt-")
        folder = arguments.keep or pathlib.Path(stack.enter_context(passing))
        count = failures = 0
        for *row, is_right in rows_of(arguments, tables, asked, folder):
            print("{:<42} {:>6} questions  {}".format(*row), flush=True)
            count, failures = count + 1, failures + (not is_right)
    print(f"{count} proofs and mutants, {failures} not as expected, {time.monotonic() - begin:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (solvers.Broken, header.NotUnderstood) as error:
        sys.exit(f"run.py: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
