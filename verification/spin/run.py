#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Searches the model of the share word exhaustively, and has spin refute the model's mutants.

Exit status: 0 if every claim held in a complete search and every mutant was refuted as expected,
1 if not, 2 for what cannot be asked, 77 if spin is not installed."""

import argparse
import concurrent.futures
import json
import pathlib
import shlex
import shutil
import sys
import tempfile
import time

import searches
import spin
from journal import Journal

SKIPPED = 77
BREADTH_FIRST_SECONDS = 120
ROW = "{:<33} {:>6}  {:<27} {:>11}  {:<34} {:>7}"


def count(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number from 1 on, not '{text}'")
    return int(text)


def arguments_of(argv):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="some 20 seconds; the default")
    extent.add_argument("--deep", action="store_true", help="all of it; see README.md for the price")
    parser.add_argument("--owners", type=int, metavar="N", help="only searches with so many owners")
    parser.add_argument("--only", metavar="TEXT", help="only searches whose name contains this")
    parser.add_argument("--list", action="store_true", help="name the searches and run none")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the results here too")
    parser.add_argument("--journal", type=pathlib.Path, metavar="FILE",
                        help="keeps there what ended, and does not search it again the next time")
    parser.add_argument("--jobs", type=count, default=2, metavar="N", help="searches at a time (default: 2)")
    parser.add_argument("--limit", type=count, default=3600, metavar="SECONDS", help="per search (default: 3600)")
    arguments = parser.parse_args(argv)
    arguments.chosen = [
        search
        for search in searches.searches(arguments.deep, arguments.owners)
        if (arguments.only or "") in search.name
    ]
    if not arguments.chosen:
        parser.error("there is no such search; --list, or --deep --list, says which there are")
    for file in (arguments.json, arguments.journal):
        if file and not file.resolve().parent.is_dir():
            parser.error(f"there is no folder for {file}")
    return arguments


def is_as_wanted(search, result):
    if search.mutant:
        return result.verdict == "refuted" and result.reason == search.refuted_by
    return result.verdict == "complete"


def verdict(search, result):
    wanted = is_as_wanted(search, result)
    if search.mutant:
        if wanted:
            return f"refuted: {result.reason}"
        if result.verdict == "unknown":
            return f"unknown: {result.reason}"
        return f"NOT REFUTED by {search.refuted_by}: {result.verdict} {result.reason}"
    return "holds, all states seen" if wanted else f"{result.verdict.upper()} {result.reason}"


def row(search, result):
    return ROW.format(
        search.mutant or search.model,
        search.owners,
        search.property,
        f"{result.states:,}",
        verdict(search, result),
        f"{result.seconds:.1f} s",
    )


def counterexample(search, folder):
    """What happens in a trail, and how to see it again: in the shortest, if that is found soon. Keeps
    the trail."""
    kept = pathlib.Path(tempfile.mkdtemp(prefix="byre-spin-"))
    with tempfile.TemporaryDirectory(prefix="byre-spin-") as other:
        breadth_first = spin.can_be_breadth_first(search) and spin.run(
            search, other, BREADTH_FIRST_SECONDS, ["-DBFS"]
        )
        found = breadth_first and breadth_first.verdict == "refuted"
        for trail in pathlib.Path(other if found else folder).glob("*.trail"):
            shutil.copy(trail, kept)
    command = spin.trace_command(search, kept)
    return [*spin.trace(search, kept), *([f"  again, in full: {shlex.join(command)}"] if command else [])]


def search_and_tell(search, limit, journal):
    """The result, and lines that tell of it."""
    known = journal.find(search)
    if known and is_as_wanted(search, known):
        return known, [row(search, known)]
    with tempfile.TemporaryDirectory(prefix="byre-spin-") as folder:
        result = spin.run(search, folder, limit)
        lines = [row(search, result)]
        if result.verdict == "refuted" and not is_as_wanted(search, result):
            lines += counterexample(search, folder)
    journal.add(search, result)
    return result, lines


def run(arguments):
    # There may be no output at all.
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    begin = time.monotonic()
    rows = []
    journal = Journal(arguments.journal)
    print(ROW.format("model or mutant", "owners", "property", "states", "verdict", "time"))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        ends = [pool.submit(search_and_tell, search, arguments.limit, journal) for search in arguments.chosen]
        try:
            for place, (search, end) in enumerate(zip(arguments.chosen, ends), 1):
                if on_terminal:
                    print(f"[{place}/{len(ends)}] {search.name} ...", end="\r", flush=True)
                result, lines = end.result()
                if on_terminal:
                    print("\033[K", end="")
                print(*lines, sep="\n", flush=True)
                rows.append({"name": search.name, "mutant": search.mutant, "model": search.model,
                             "owners": search.owners, "property": search.property,
                             "ok": is_as_wanted(search, result), **vars(result)})
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"searches": rows}, indent=2) + "\n")
    failures = sum(not one["ok"] for one in rows)
    seconds = time.monotonic() - begin
    print(f"{len(rows)} {'search' if len(rows) == 1 else 'searches'}, {failures} not as they should be, {seconds:.0f} s")
    return 1 if failures else 0


def main(argv):
    arguments = arguments_of(argv)
    if arguments.list:
        print(*(search.name for search in arguments.chosen), sep="\n")
        return 0
    for tool, package in (("spin", "spin"), ("cc", "gcc")):
        if not shutil.which(tool):
            print(f"run.py: there is no {tool}; on Debian: apt-get install {package}", file=sys.stderr)
            return SKIPPED
    try:
        return run(arguments)
    except spin.Broken as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
