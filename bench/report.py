#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs byre-bench, prints how byre compares with what else one would write, and keeps the figures.

Every round runs all benchmarks once, those that compete right after one another and taking turns at going first. A
ratio is taken within each round; shown are its median over the rounds and its quartiles. Speed is reported, not
tested: the exit status is 0 whatever the ratios are, 3 if a number of copies was wrong, 1 if something else failed."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import plot
import summary

WRONG_COUNT = 3


class Failure(Exception):
    """A message for the user, in one line."""


def run_round(command, index):
    """One round's Google Benchmark document, and whether the copies were right."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "round.json")
        try:
            done = subprocess.run([*command, f"--round={index}", f"--benchmark_out={output}"], text=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        except OSError as error:
            raise Failure(f"cannot run {command[0]}: {error.strerror}") from error
        if done.returncode not in (0, WRONG_COUNT):
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise Failure(f"{command[0]} ended with status {done.returncode}: {last}")
        if done.returncode == WRONG_COUNT:
            print(done.stderr, file=sys.stderr)
        try:
            with open(output, encoding="utf-8") as file:
                return json.load(file), done.returncode == 0
        except (OSError, ValueError) as error:
            raise Failure(f"no benchmark has such a name: {command[-1]}") from error


def measure(options):
    """The documents of all rounds, and whether the copies were right in each."""
    command = [options.binary] + ["--smoke"] * options.smoke + [f"--benchmark_filter={options.filter}"]
    documents, all_right = [], True
    for index in range(options.rounds):
        document, right = run_round(command, index)
        documents.append(document)
        all_right = all_right and right
        print(f"round {index + 1} of {options.rounds} done", file=sys.stderr, flush=True)
    return documents, all_right


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1e}" if abs(value) < 0.01 else f"{value:.2f}"


def print_table(figures):
    about = figures.about
    print(f"{about['date']}, {about['machine']}: medians of {about['rounds']} rounds")
    rows = [("measure", "median", "quartiles", "at most", "")]
    for result in figures.measures:
        low, high = map(number, result["quartiles"])
        unit = "" if result["unit"] == "ratio" else " " + result["unit"]
        bound = result["bound"]
        # To the digits that are shown, so that 1.300 within 1.3 does not read as missed.
        missed = bound is not None and round(result["median"], 3) > bound
        rows.append((result["title"] + "*" * result["disturbed"], number(result["median"]) + unit, f"{low}-{high}",
                     "" if bound is None else f"{bound:g}{unit}", "missed" if missed else ""))
    widths = [max(map(len, column)) for column in zip(*rows)]
    for title, *cells in rows:
        print("  ".join([title.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]).rstrip())
    if any(result["disturbed"] for result in figures.measures):
        print("* the machine was too busy: in no burst did every thread have a core of its own")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", help="the program byre-bench")
    parser.add_argument("outdir", help="folder for bench.json and the plots")
    parser.add_argument("--rounds", type=int, default=9, help="how often everything is measured (default: 9)")
    parser.add_argument("--filter", metavar="REGEX", default=".", help="only the benchmarks of such a name")
    parser.add_argument("--smoke", action="store_true",
                        help="only that everything runs, up to 4 KiB: the figures mean nothing")
    parser.add_argument("--json", metavar="FILE", help="where to write medians and quartiles, for the plots of "
                        "./dev docs (default: OUTDIR/bench.json)")
    parser.add_argument("--from", metavar="FILE", dest="source", help="run nothing: report what such a file has")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds has to be at least 1")
    return options


def report(options):
    copies_right, kept = True, options.source
    try:
        if not kept:
            os.makedirs(options.outdir, exist_ok=True)
            kept = options.json or os.path.join(options.outdir, "bench.json")
            documents, copies_right = measure(options)
            summary.save(kept, documents)
        figures = summary.Summary(kept)
    except OSError as error:
        raise Failure(f"cannot use {error.filename}: {error.strerror}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise Failure(f"{kept} is not a file that report.py wrote: {error}") from error
    print_table(figures)
    for name in plot.PICTURES:
        picture = os.path.join(options.outdir, f"{name}.svg")
        obstacle = plot.draw(name, figures, picture)
        print(f"no plot: {obstacle}" if obstacle else f"plot: {picture}")
    return copies_right


def main():
    try:
        return 0 if report(parse_arguments()) else WRONG_COUNT
    except Failure as failure:
        print(f"report.py: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
