#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Keeps the tables of docs/verification.md, what is claimed and shown, and of docs/deep-run.md.

  claims.py --run BINARY DOCUMENT        runs all searches, and says whether the table is what they found
  claims.py --json FILE BINARY DOCUMENT  writes the table, from what `BINARY --json FILE` found
  claims.py --deep FILE BINARY DOCUMENT  writes the table of the deep run, from `BINARY --deep --json FILE`
"""

import argparse
import datetime
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

BEGIN = "<!-- claims.py {} begins -->\n"
END = "<!-- claims.py {} ends -->\n"

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
    "promise 9": "Threads of a loop may ask one storage to write at once",
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
        if not shown:
            sys.exit(f"{claim}: nothing shows it")
        yield f"| {claim} | {text} | {', '.join(shown)} | {', '.join(refuted)} |"
    yield ""
    yield "| search | bound | programs | of them without a bound | executions | verdict |"
    yield "|---|---|---|---|---|---|"
    for result in results:
        if result["programs"]:
            yield (f"| `{result['scenario']}` | {result['bound']} | {result['programs']:,} "
                   f"| {result['programs_unbounded']:,} | {result['executions']:,} | {result['verdict']} |")
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


def rows_of_deep_run(results):
    begin = datetime.date.today().isoformat()
    left = sum(len(result["left"]) or result["verdict"] == "unknown" for result in results)
    ended = sum(result["programs"] or result["verdict"] != "unknown" for result in results)
    yield (f"Written on {begin}: {ended + left:,} searches, {left} of them cut short, of "
           f"{sum(r['executions'] for r in results):,} executions, in {sum(r['seconds'] for r in results):,.0f} s "
           "of search.")
    yield ""
    yield "| search | bound | executions | seconds | came to |"
    yield "|---|---|---|---|---|"
    for result in results:
        if result["scenario"].startswith("litmus."):
            continue
        came_to = "cut short" if result["verdict"] == "unknown" else result["verdict"]
        if result["programs"]:
            came_to = f"{result['programs']:,} programs pass, {len(result['left']):,} cut short"
        yield (f"| `{result['scenario']}` | {result['bound']} | {result['executions']:,} "
               f"| {result['seconds']:,.1f} | {came_to} |")
    for result in results:
        if result["left"]:
            yield from ("", f"Cut short, of `{result['scenario']}`:", "", "<!-- measured -->", "```text",
                        *result["left"], "```")


def split(document, part):
    before, rest = document.read_text().split(BEGIN.format(part))
    inside, after = rest.split(END.format(part))
    return before, inside, after


def write(lines, part, document):
    before, _, after = split(document, part)
    inside = "\n".join(lines) + "\n"
    document.write_text(before + BEGIN.format(part) + inside + END.format(part) + after)


def run(binary, document):
    """All searches; then whether each figure of the table is what they found."""
    with tempfile.TemporaryDirectory() as folder:
        found = pathlib.Path(folder) / "found.json"
        ended = subprocess.run([binary, "--json", found], check=False)
        if not found.exists():
            sys.exit(ended.returncode or 1)
        now = list(table(json.loads(found.read_text()), listed(binary)))
    written = split(document, "table")[1].splitlines()
    difference = list(difflib.unified_diff(written, now, str(document), "what was found", lineterm="", n=0))
    print(*difference, sep="\n")
    if difference:
        sys.exit(f"{document} is old: byre-verify --json FILE, then claims.py --json FILE")
    sys.exit(ended.returncode)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--run", action="store_true", help="compare, and write nothing")
    what.add_argument("--json", metavar="FILE", type=pathlib.Path, help="what byre-verify found")
    what.add_argument("--deep", metavar="FILE", type=pathlib.Path, help="what byre-verify --deep found")
    parser.add_argument("binary", help="the program byre-verify")
    parser.add_argument("document", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.run:
        run(arguments.binary, arguments.document)
    elif arguments.json:
        write(table(json.loads(arguments.json.read_text()), listed(arguments.binary)), "table",
              arguments.document)
    else:
        write(rows_of_deep_run(json.loads(arguments.deep.read_text())), "deep", arguments.document)


if __name__ == "__main__":
    main()
