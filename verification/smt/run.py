#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Proves the protocols for any number of threads, with two solvers, and has them refute every mutant.

Exit status: 0 if both solvers gave every answer that proves, and refuted each mutant by what
refutations.py names for it; 1 if not, 2 for what cannot be asked, 77 if a solver is not installed."""

import argparse
import concurrent.futures
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import header
import solvers
from proofs import PROOFS
from refutations import REFUTATIONS

SKIPPED = 77
ROW = "{:<42} {:>9}  {:>6} {:>6}  {}"


@dataclass(frozen=True)
class Task:
    """A part of a proof; of what ships, or of one mutant."""

    part: object
    pairs: tuple
    mutant: str = ""

    @property
    def file(self):
        name = f"mutants/{self.mutant.replace(':', '.')}.{self.part.name}" if self.mutant else self.part.name
        return f"{name}.smt2"


def count(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number from 1 on, not '{text}'")
    return int(text)


def arguments_of(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=pathlib.Path, help="the program built from tables.cpp")
    parser.add_argument("--only", metavar="TEXT", default="", help="only proofs and mutants whose name contains this")
    parser.add_argument("--list", action="store_true", help="name the proofs and mutants and ask nothing")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the results here too")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="leave the SMT-LIB files here")
    parser.add_argument("--jobs", type=count, default=2, metavar="N", help="solvers at a time (default: 2)")
    arguments = parser.parse_args(argv)
    if not arguments.tables.is_file():
        parser.error(f"there is no program {arguments.tables}; `ninja verification/smt/protocol_tables` builds it")
    for path in (arguments.json, arguments.keep):
        if path and not path.resolve().parent.is_dir():
            parser.error(f"there is no folder for {path}")
    return arguments


def tasks_of(proof, tables):
    """Of what ships, and of every mutant: what of its questions is another than what ships is asked."""
    shipped = list(proof.parts(tables))
    asked = {part.name: {question.text for question, _ in part.pairs} for part in shipped}
    for part in shipped:
        yield Task(part, part.pairs)
    for mutant in tables["mutants"]:
        if not mutant["row"].startswith(proof.prefix):
            continue
        is_split = mutant["change"] == "plain"
        site = mutant["row"].removeprefix(proof.prefix)
        for part in proof.split(tables, site) if is_split else proof.parts(tables, mutant):
            # That something is possible is asked of what ships, lest it prove nothing.
            new = (pair for pair in part.pairs if pair[1] == "unsat" and pair[0].text not in asked[part.name])
            yield Task(part, tuple(new), mutant["name"])


def rows_without_model(proof, tables):
    rows = {name.removeprefix(proof.prefix) for name in tables["sites"] if name.startswith(proof.prefix)}
    return sorted(rows - proof.sites(tables) - set(proof.not_modelled))


def solve(task, solver, folder):
    begin = time.monotonic()
    answers = solvers.answers(solver, folder / task.file, len(task.pairs))
    return answers, time.monotonic() - begin


def write(tasks, folder):
    for task in tasks:
        path = folder / task.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(solvers.script(task.part.sorts, [question for question, _ in task.pairs], task.part.logic))


def faults_of(task, answers):
    """The questions that were not answered as what proves is; and those on which the solvers differ, or
    that one did not answer."""
    found = list(zip(*answers.values()))
    wrong = [question.name for (question, wanted), each in zip(task.pairs, found) if set(each) != {wanted}]
    unclear = [question.name for (question, _), each in zip(task.pairs, found)
               if len(set(each)) > 1 or "unknown" in each]
    return wrong, unclear


def verdict_on_mutant(name, refuted_by, unclear, equivalents):
    """What is said of it, and whether that is right."""
    wanted = REFUTATIONS.get(name)
    if unclear:
        return f"NOT CLEAR: {unclear[0]}", False
    if name in equivalents:
        return ("ARGUED TO CHANGE NOTHING, BUT REFUTED", False) if refuted_by else ("equivalent", True)
    if not refuted_by:
        return "NOT REFUTED", False
    if refuted_by[0] != wanted:
        return f"REFUTED BY {refuted_by[0]!r}, NOT BY {wanted!r}", False
    return f"refuted: {refuted_by[0]}", True


class Report:
    def __init__(self):
        self.rows, self.failures = [], 0
        print(ROW.format("proof or mutant", "questions", *solvers.SOLVERS, "verdict"))

    def add(self, name, questions, seconds, verdict, is_right):
        self.failures += not is_right
        self.rows.append({"name": name, "questions": questions, "seconds": seconds, "verdict": verdict, "ok": is_right})
        times = [f"{seconds[solver]:.1f} s" for solver in solvers.SOLVERS]
        print(ROW.format(name, questions, *times, verdict), flush=True)

    def fail(self, text):
        self.failures += 1
        self.rows.append({"name": text, "ok": False})
        print(f"FAILED: {text}", flush=True)


def answered(tasks, folder, jobs):
    """Of each task: what each solver said, and how long each took."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        ends = [{solver: pool.submit(solve, task, solver, folder) for solver in solvers.SOLVERS} for task in tasks]
        try:
            for task, end in zip(tasks, ends):
                results = {solver: each.result() for solver, each in end.items()}
                yield (task, {solver: result[0] for solver, result in results.items()},
                       {solver: result[1] for solver, result in results.items()})
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def run(arguments, tables, folder):
    report = Report()
    for proof in PROOFS:
        for row in rows_without_model(proof, tables):
            report.fail(f"no transition is of the step {proof.prefix}{row}")
    tasks = [task for proof in PROOFS for task in tasks_of(proof, tables)
             if arguments.only in (task.mutant or task.part.name)]
    write(tasks, folder)
    mutants = {}
    for task, answers, seconds in answered(tasks, folder, arguments.jobs):
        wrong, unclear = faults_of(task, answers)
        if not task.mutant:
            said = "proved" if not wrong else f"NOT PROVED: {'; '.join(wrong)}"
            report.add(task.part.name, len(task.pairs), seconds, said, not wrong)
            continue
        of_mutant = mutants.setdefault(task.mutant, ([], [], [], []))
        for kept, new in zip(of_mutant, (wrong, unclear, [len(task.pairs)], [seconds])):
            kept.extend(new)
    for name, (wrong, unclear, questions, seconds) in mutants.items():
        times = {solver: sum(each[solver] for each in seconds) for solver in solvers.SOLVERS}
        report.add(name, sum(questions), times, *verdict_on_mutant(name, wrong, unclear, tables["equivalents"]))
    for name in sorted(set(REFUTATIONS) - {mutant["name"] for mutant in tables["mutants"]}):
        report.fail(f"refutations.py has {name}, which is no mutant")
    return report


def main(argv):
    arguments = arguments_of(argv)
    tables = json.loads(subprocess.run([arguments.tables.resolve()], capture_output=True, check=True).stdout)
    if arguments.list:
        names = [task.mutant or task.part.name for proof in PROOFS for task in tasks_of(proof, tables)]
        print(*(name for name in dict.fromkeys(names) if arguments.only in name), sep="\n")
        return 0
    if missing := solvers.missing():
        print(f"run.py: there is no {' and no '.join(missing)}; on Debian: apt-get install z3 cvc5", file=sys.stderr)
        return SKIPPED
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = arguments.keep or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="byre-smt-")))
        report = run(arguments, tables, folder)
    if arguments.json:
        arguments.json.write_text(json.dumps({"proofs": report.rows}, indent=2) + "\n")
    seconds = time.monotonic() - begin
    print(f"{len(report.rows)} proofs and mutants, {report.failures} not as they should be, {seconds:.0f} s")
    return 1 if report.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (solvers.Broken, header.NotUnderstood) as error:
        sys.exit(f"run.py: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
