#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Keeps the table of claims in docs/verification.md.

  claims.py --json FILE BINARY DOCUMENT  writes the table, from what `BINARY --json FILE` found
  claims.py --check BINARY DOCUMENT      says whether the table has the scenarios and bounds that
                                         `BINARY --list` has
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

BEGIN = "<!-- claims.py begins -->\n"
END = "<!-- claims.py ends -->\n"

# Of the word, which the textbook form that takes a lock has not.
OF_THE_WORD = {"I2", "I3", "I7"}

CLAIMS = {
    "promise 1": "Storages that share data are independent",
    "promise 2": "On one storage, const operations may run at once",
    "promise 3": "N writers make N-1 copies, one keeps the original",
    "promise 4": "A drop never blocks",
    "promise 5": "A failure changes nothing, and nobody else notices",
    "promise 6": "Reading never copies",
    "promise 7": "A lazy clone does not change its source",
    "promise 8": "Foreign memory is cloned like any other",
    "I1": "Data and word live while anybody owns or copies",
    "I2": "Nothing is touched after one's own last step",
    "I3": "`waiting` is its setter's alone",
    "I4": "Data is constant while it is copied",
    "I5": "A steal is after every copy and every former read",
    "I6": "Of N claims one steals",
    "I7": "A sole owner is alone with the word",
    "G1": "No two writes of a storage have one stamp",
    "G2": "A family has observed a stamp that the storage had",
    "G3": "A family whose stamp is the storage's wrote last or had the last write reported",
    "G4": "A family has not read what was reported where it wrote, until it reads or writes all of it",
    "G5": "Every write is the storage's last, or kept in its record, or a later one of that record is",
}


def listed(binary):
    """The scenarios that --list has, in its order: what each shows, its quick bound and verdict."""
    lines = subprocess.run([binary, "--list"], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    scenarios = {}
    for line, shows in zip(lines, lines[1:]):
        found = re.match(r"(\S+): \d+ threads, bound (\w+), deep \w+, (.*)", line)
        if found:
            scenarios[found[1]] = (shows.strip(), found[2], found[3])
    return scenarios


def claims_of(scenarios):
    """The claims that each scenario is about, those of its predecessor if it is 'the same'."""
    claims = {}
    last = []
    for name, (shows, _, _) in scenarios.items():
        if name.startswith("litmus."):  # about the checker
            continue
        named = re.findall(r"\b[IG]\d\b", shows)
        for numbers in re.findall(r"promises? (\d(?:(?:, | and )\d)*)", shows):
            named += [f"promise {number}" for number in re.findall(r"\d", numbers)]
        last = named or (last if shows.startswith("The same") else [])
        if name.startswith("locked_") and shows == "The same of the textbook form.":
            last = claims.get(name.removeprefix("locked_"), last)
        claims[name] = ([claim for claim in last if claim not in OF_THE_WORD]
                        if name.startswith("locked_") else last)
    return claims


def table(results, scenarios):
    claims = claims_of(scenarios)
    yield "| claim | what it says | shown by (bound: executions) | refuted designs |"
    yield "|---|---|---|---|"
    for claim, text in CLAIMS.items():
        shown, refuted = [], []
        for result in results:
            name = result["scenario"]
            if claim not in claims.get(name, []):
                continue
            entry = f"`{name}` ({result['bound']}: {result['executions']:,})"
            if result["expected"] == "pass":
                shown.append(entry)
            else:
                refuted.append(f"`{name}` ({result['verdict']}, {result['executions']:,})")
        yield f"| {claim} | {text} | {', '.join(shown)} | {', '.join(refuted)} |"
    yield ""
    yield "| search | bound | programs | of them in full | executions | verdict |"
    yield "|---|---|---|---|---|---|"
    for result in results:
        if result["programs"]:
            yield (f"| `{result['scenario']}` | {result['bound']} | {result['programs']:,} "
                   f"| {result['programs_in_full']:,} | {result['executions']:,} | {result['verdict']} |")
    others = [result for result in results
              if not result["programs"] and not claims.get(result["scenario"])]
    yield ""
    yield ("Of no claim by number: "
           + ", ".join(f"`{result['scenario']}`" for result in others
                       if not result["scenario"].startswith("litmus."))
           + f"; and {sum(r['scenario'].startswith('litmus.') for r in others)} litmus tests.")
    yield ""
    yield (f"In all {len(results)} searches and {sum(r['executions'] for r in results):,} "
           "executions.")


def split(document):
    text = document.read_text()
    before, rest = text.split(BEGIN)
    inside, after = rest.split(END)
    return before, inside, after


def write(results_file, document, binary):
    results = json.loads(pathlib.Path(results_file).read_text())
    before, _, after = split(document)
    inside = "\n".join(table(results, listed(binary))) + "\n"
    document.write_text(before + BEGIN + inside + END + after)


def check(binary, document):
    """What the table has and the list has not, or otherwise."""
    _, inside, _ = split(document)
    scenarios = listed(binary)
    claims = claims_of(scenarios)
    for claim in CLAIMS:
        row = next((line for line in inside.splitlines() if line.startswith(f"| {claim} |")), "")
        named = set(re.findall(r"`([\w.]+)` \(", row))
        about = {name for name, of in claims.items() if claim in of}
        for name in sorted(named ^ about):
            yield (f"{claim}: `{name}` is not about it any more" if name in named else
                   f"{claim}: `{name}` is about it too")
        if not any(scenarios[name][2] == "pass" for name in about):
            yield f"{claim}: nothing shows it"
        for name, bound in re.findall(r"`([\w.]+)` \((\w+): ", row):
            if name in scenarios and scenarios[name][1] != bound:
                yield f"`{name}` is searched to {scenarios[name][1]} now, not to {bound}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--json", metavar="FILE", help="what byre-verify found")
    parser.add_argument("binary", help="the program byre-verify")
    parser.add_argument("document", type=pathlib.Path)
    arguments = parser.parse_args()
    if not arguments.check and not arguments.json:
        parser.error("either --check or --json FILE")
    if not arguments.check:
        write(arguments.json, arguments.document, arguments.binary)
        return
    problems = list(check(arguments.binary, arguments.document))
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(f"{arguments.document} is old: byre-verify --json FILE, then claims.py --json FILE")


if __name__ == "__main__":
    main()
