#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs byre-bench, prints how byre compares with hand-written alternatives, and saves the figures.

Every round runs all benchmarks once. Competing benchmarks run one after the other, and their order rotates from round
to round. A ratio is taken within each round; the table shows its median and its quartiles over the rounds. The exit
status does not depend on the ratios: it is 3 if a count of copies was wrong, 1 if anything else failed, and 0
otherwise."""

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
    """Runs a round. Returns its Google Benchmark document, and whether the counts of copies were right."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "round.json")
        try:
            done = subprocess.run([*command, f"--round={index}", f"--benchmark_out={output}"], text=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        except OSError as error:
            raise Failure(f"cannot run {command[0]}: {error.strerror}") from error
        if done.returncode not in (0, WRONG_COUNT):
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise Failure(f"{command[0]} ended with status {done.returncode}: {last}")
        if done.returncode == WRONG_COUNT:
            print(done.stderr, file=sys.stderr)
        try:
            with open(output, encoding="utf-8") as file:
                return json.load(file), done.returncode == 0
        except (OSError, ValueError) as error:
            raise Failure(f"no benchmark matches {command[-1]}. Change --filter.") from error


def measure(options):
    """Runs all rounds. Returns their documents, and whether the counts of copies were right in all of them."""
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
        # The median is rounded, so that a median printed as equal to its bound is not marked as missed.
        missed = bound is not None and round(result["median"], 3) > bound
        rows.append((result["title"] + "*" * result["disturbed"], number(result["median"]) + unit, f"{low}-{high}",
                     "" if bound is None else f"{bound:g}{unit}", "missed" if missed else ""))
    widths = [max(map(len, column)) for column in zip(*rows)]
    for title, *cells in rows:
        print("  ".join([title.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]).rstrip())
    if any(result["disturbed"] for result in figures.measures):
        print("* disturbed: the machine was too busy to give each thread its own core in any burst")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", help="the program byre-bench")
    parser.add_argument("outdir", help="folder for bench.json and the plots")
    parser.add_argument("--rounds", type=int, default=9, help="number of rounds, at least 1 (default: %(default)s)")
    parser.add_argument("--filter", metavar="REGEX", default=".", help="run only benchmarks whose names match REGEX")
    parser.add_argument("--smoke", action="store_true",
                        help="only test that the benchmarks run, up to 4 KiB: the figures are meaningless")
    parser.add_argument("--json", metavar="FILE", help="write the medians and quartiles to FILE, from which ./dev docs "
                        "draws plots (default: OUTDIR/bench.json)")
    parser.add_argument("--from", metavar="FILE", dest="source",
                        help="run no benchmarks; report the figures of FILE, which an earlier run wrote")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds must be at least 1, not {options.rounds}")
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
        raise Failure(f"cannot read {kept}: report.py did not write this file: {error}") from error
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
