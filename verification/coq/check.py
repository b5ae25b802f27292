#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks share_word.v with Coq: its theorems hold and rest on no axiom; its moves have the names of the transitions of
smt/share_word_proof.py, and equal effects on every small word; a step of several owners is as many moves; and each of
three wrong changes breaks a theorem.

Exit status: 0 if all of this holds, 1 if not, 2 for an invalid command line, 77 if coqc is not installed."""

import argparse
import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "smt"))

from code_tables import read_tables  # noqa: E402
from share_word import FIELDS, ShareWord  # noqa: E402
from share_word_proof import NUMBERS, OWNERS, PLACES, transitions  # noqa: E402
from transitions import State  # noqa: E402

SKIPPED = 77
LIMIT_S = 250
MOST = 3  # the limit of owners and of copies
# Wakes concern progress, not safety, so share_word.v does not model them.
NOT_MODELLED = ("wake_pass_through_the_lock", "wake_notify", "wake_of_another_address")
# Steps of several owners, and the move that has the same effect if it is taken as often. So these steps reach no
# further states, and share_word.v does not model them.
OF_SEVERAL = {"add_owners": "add_owner", "drop_owners": "drop_owner"}
# Wrong moves: the replaced text and its replacement.
WRONG = {
    "a thread writes without being exclusive": ("is_writable w : sole w ->", "is_writable w :"),
    "the last owner drops the data and does not free it": ("drop_owner w : ~ sole w ->", "drop_owner w :"),
    "a waiter that copies does not clear the waiting bit": ("(with_waiting false (claimed w))", "(claimed w)"),
}


def slug(name):
    return re.sub("[^a-z]+", "_", name)


def coqc(folder, name):
    """True if coqc accepts the file, and its output."""
    done = subprocess.run(["coqc", "-q", "-R", ".", "byre", name], cwd=folder, capture_output=True,
                          text=True, timeout=LIMIT_S)
    return done.returncode == 0, done.stdout + done.stderr


def coq_word(state):
    return (f"{{| owners := {state.owners}; copies := {state.copies}; "
            f"waiting := {'true' if state.waiting else 'false'} |}}")


def small_words():
    for owners in range(MOST + 1):
        for copies in range(MOST + 1):
            for waiting in (False, True):
                yield State({**dict.fromkeys(NUMBERS, 0), "owners": owners, "copies": copies,
                             "waiting": waiting, "read_only": False, "several": 1})


def goals(steps):
    """Goals: each move is possible if and only if its transition is possible, and both have equal effects."""
    for name, step in steps.items():
        for word in small_words():
            if (step.start in OWNERS and not word.owners) or (step.start == "copier" and not word.copies):
                continue  # impossible: the word counts the thread that moves
            before = word.updated(**{step.start: 1})
            after = step.after(before)
            left = [place for place in PLACES if place not in ("waker", "notifier")
                    for _ in range(getattr(after, place))]
            last = f"{step.start} %s [{'; '.join(left)}] {after.freed}"
            if step.is_possible(before):
                yield (f"Goal move {coq_word(word)} {last % coq_word(after)}. "
                       f"Proof. apply {name}; holds. Qed.")
            else:
                yield (f"Goal exists after, move {coq_word(word)} {last % 'after'}. "
                       f"Proof. Fail (eexists; apply {name}; holds). Abort.")


def differences(steps, of_several):
    """Steps of several owners with another effect than as many moves of one owner, from a small word."""
    for name, step in of_several.items():
        move = steps[OF_SEVERAL[name]]
        for word, several in itertools.product(small_words(), range(1, MOST + 1)):
            before = moved = word.updated(owner=word.owners, several=several)
            if not step.is_possible(before):
                continue
            after = step.after(before)
            for _ in range(several):
                moved = move.after(moved) if move.is_possible(moved) else before
            if any(getattr(moved, each) != getattr(after, each) for each in (*FIELDS, *PLACES, "freed")):
                yield f"{name} of {several} differs from {several} moves, from {coq_word(before)}"


HEAD = """Require Import Lia. From byre Require Import share_word.
Require Import List. Import ListNotations.
Ltac holds := unfold sole, last_copy; simpl; (lia || easy).
"""


def faults(folder, steps, of_several):
    source = (HERE / "share_word.v").read_text()
    moves = re.findall(r"^\| (\w+)(?: w)", source[:source.index("Record state")], re.MULTILINE)
    if sorted(moves) != sorted(steps):
        yield f"moves without a transition, or transitions without a move: {sorted(set(moves) ^ set(steps))}"
        return
    yield from differences(steps, of_several)
    (folder / "share_word.v").write_text(source)
    is_accepted, output = coqc(folder, "share_word.v")
    theorems = len(re.findall("^Theorem", source, re.MULTILINE))
    asked, closed = source.count("Print Assumptions"), output.count("Closed under the global context")
    if not is_accepted:
        yield f"coqc rejects share_word.v:\n{output}"
        return
    if not asked == closed == theorems - 1:  # all but invariant_always, which the others use
        yield (f"wrong number of printed assumptions: {theorems} theorems, {asked} printed, {closed} rest on no axiom. "
               "Print the assumptions of each theorem.")
    lines = list(goals(steps))
    (folder / "small_words.v").write_text(HEAD + "\n".join(lines) + "\n")
    is_accepted, output = coqc(folder, "small_words.v")
    if not is_accepted:
        yield f"a move differs from its transition:\n{output[-2000:]}"
    print(f"{len(moves)} moves are the transitions, in {len(lines)} steps from small words")
    for name, (right, wrong) in WRONG.items():
        (folder / "wrong.v").write_text(source.replace(right, wrong, 1))
        if right not in source or coqc(folder, "wrong.v")[0]:
            yield f"coqc accepts a wrong form: {name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=pathlib.Path, help="the program built from smt/tables.cpp")
    arguments = parser.parse_args()
    if not arguments.tables.is_file():
        parser.error(f"program not found: {arguments.tables}. Build it with ninja.")
    if not shutil.which("coqc"):
        print("check.py: coqc is not installed; skipped. On Debian: apt-get install coq")
        return SKIPPED
    tables = read_tables(arguments.tables)
    steps = {slug(step.name): step for step in transitions(ShareWord(tables))}
    of_several = {name: steps.pop(name) for name in OF_SEVERAL}
    steps = {name: step for name, step in steps.items() if name not in NOT_MODELLED}
    with tempfile.TemporaryDirectory(prefix="byre-coq-") as folder:
        found = list(faults(pathlib.Path(folder), steps, of_several))
    print(*(f"FAILED: {fault}" for fault in found), sep="\n", end="\n" if found else "")
    print("not proved by Coq" if found else f"proved by Coq, which rejects {len(WRONG)} wrong forms")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
