#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints the table of totals of docs/verification.md: totals.py BYRE_VERIFY

Runs all searches of the quick run, and all mutants. Fails if one of them fails, or if no scenario shows a claim."""
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PROMISES = [f"promise {number}" for number in range(1, 10)]
INVARIANTS = [f"I{number}" for number in range(1, 8)] + [f"G{number}" for number in range(1, 6)]


def figures(binary, *options):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "figures.json"
        subprocess.run([binary, *options, "--json", file], check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text())


def claims_shown(binary):
    """The promises and invariants that the scenarios of --list name."""
    text = subprocess.run([binary, "--list"], check=True, capture_output=True, text=True).stdout
    shown = set(re.findall(r"\b[IG]\d\b", text))
    for numbers in re.findall(r"promises? (\d(?:(?:, | and )\d)*)", text):
        shown |= {f"promise {number}" for number in re.findall(r"\d", numbers)}
    return shown


def kind(result):
    name = result["scenario"]
    if name.startswith("litmus."):
        return "litmus tests"
    if result["expected"] != "pass":
        return "known-wrong designs, each refuted"
    return "families of small programs" if result["programs"] else "scenarios that pass"


def main(binary):
    if missing := set(PROMISES + INVARIANTS) - claims_shown(binary):
        sys.exit(f"no scenario shows {', '.join(sorted(missing))}")
    results, mutants = figures(binary), figures(binary, "--mutants")
    kinds = {}
    for result in sorted(results, key=kind, reverse=True):
        kinds.setdefault(kind(result), []).append(result["executions"])
    print(f"Printed by `verification/totals.py build/verification/byre-verify` on {datetime.date.today()}.\n")
    print("| what | searches | executions |\n|---|---|---|")
    for name, executions in kinds.items():
        print(f"| {name} | {len(executions)} | {sum(executions):,} |")
    outcomes = [mutant["outcome"] for mutant in mutants]
    counts = ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in ("killed", "equivalent", "survived"))
    print(f"\nIn all {len(results)} searches and {sum(result['executions'] for result in results):,} executions. "
          f"{len(mutants)} mutants: {counts}. Each of the {len(PROMISES)} promises and {len(INVARIANTS)} invariants "
          "is shown by a scenario.")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
