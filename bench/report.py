#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs byre-bench, prints how byre compares with what else one would write, and keeps the figures.

Every round runs all benchmarks once, those that compete right after one another and taking turns at
going first. A ratio is taken within each round; shown is its median over the rounds, its quartiles,
and its least and most. Speed is reported, not tested: the exit status is 0 whatever the ratios
are, 3 if a number of copies was wrong, 1 if something else failed."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import measures
import plot
import summary

WRONG_COUNT = 3
ROUNDS = {"full": 9, "quick": 5, "smoke": 1}


class Failure(Exception):
    """Something the user has to be told, in one line."""


class Progress:
    """A line that is rewritten on a terminal, and a plain line per round elsewhere."""

    def __init__(self, rounds, benchmarks):
        self.rounds, self.benchmarks, self.done = rounds, benchmarks, 0
        self.start = time.monotonic()

    def step(self, round_index):
        self.done += 1
        if sys.stderr.isatty():
            share = self.done / max(1, self.rounds * self.benchmarks)
            bar = "#" * int(30 * share)
            print(f"\rround {round_index + 1}/{self.rounds} [{bar:<30}] {share:4.0%} "
                  f"{time.monotonic() - self.start:4.0f} s", end="", file=sys.stderr, flush=True)

    def end_round(self, round_index):
        if not sys.stderr.isatty():
            print(f"round {round_index + 1} of {self.rounds} done after "
                  f"{time.monotonic() - self.start:.0f} s", file=sys.stderr, flush=True)

    def end(self):
        if sys.stderr.isatty():
            print(file=sys.stderr)


def list_benchmarks(command):
    try:
        listing = subprocess.run([*command, "--benchmark_list_tests=true"], capture_output=True,
                                 text=True, check=False)
    except OSError as error:
        raise Failure(f"cannot run {command[0]}: {error.strerror}") from error
    if listing.returncode != 0:
        raise Failure(f"{command[0]} does not list its benchmarks: {listing.stderr.strip()}")
    names = [line for line in listing.stdout.splitlines() if line.count("/") >= 3]
    if not names:
        raise Failure("no benchmark has such a name")
    return names


def run_round(command, index, progress):
    """One round's Google Benchmark document, and whether the copies were right."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "round.json")
        with subprocess.Popen([*command, f"--round={index}", f"--benchmark_out={output}",
                               "--benchmark_out_format=json", "--benchmark_color=false"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            # What it says is short, so that the pipe not read first does not fill up.
            for line in process.stdout:
                if line.count("/") >= 3:
                    progress.step(index)
            said = process.stderr.read()
        if process.returncode < 0:
            raise Failure(f"{command[0]} was ended by signal {-process.returncode}")
        if process.returncode not in (0, WRONG_COUNT):
            last = (said.strip().splitlines() or ["it said nothing"])[-1]
            raise Failure(f"{command[0]} ended with status {process.returncode}: {last}")
        if process.returncode == WRONG_COUNT:
            for line in said.splitlines():
                if line.startswith("byre-bench:"):
                    print(line, file=sys.stderr)
        try:
            with open(output, encoding="utf-8") as file:
                return json.load(file), process.returncode == 0
        except (OSError, ValueError) as error:
            raise Failure(f"{command[0]} left no readable JSON: {error}") from error


def measure(options):
    """All rounds in one document, and whether the copies were right in each."""
    command = [options.binary, f"--effort={options.effort}"]
    if options.filter:
        command.append(f"--benchmark_filter={options.filter}")
    progress = Progress(options.rounds, len(list_benchmarks(command)))
    document, all_right = None, True
    for index in range(options.rounds):
        part, right = run_round(command, index, progress)
        all_right = all_right and right
        for run in part["benchmarks"]:
            run["repetition_index"] = index
        if document is None:
            document = part
        else:
            document["benchmarks"].extend(part["benchmarks"])
        progress.end_round(index)
    progress.end()
    return document, all_right


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        document["benchmarks"][0]["repetition_index"]
        return document
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise Failure(f"{path} is not a JSON file that report.py wrote: {error}") from error


def save(path, document):
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from error


def save_summary(path, kept):
    try:
        summary.save(path, kept)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from error


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1e}" if abs(value) < 0.01 else f"{value:.2f}"


def print_table(results):
    rows = [("measure", "ratio", "quartiles", "least-most", "rounds", "bound", "reached")]
    for result in results:
        unit = {"bytes": " B", "ns": " ns"}.get(result.unit, "")
        reached = {None: "", True: "yes", False: "NO"}[result.reached]
        rows.append((result.title, number(result.median) + unit,
                     f"{number(result.low)}-{number(result.high)}",
                     f"{number(result.least)}-{number(result.most)}",
                     f"{result.rounds}{'*' if result.disturbed else ''}",
                     "" if result.bound is None else f"<= {result.bound}{unit}", reached))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip())
    if any(result.disturbed for result in results):
        print("* the machine was too busy: in no burst did every thread have a core of its own")


def check_copies(figures):
    """Prints how many copies writers at once made; false if one had to be exact and was not."""
    wrong = 0
    checked = 0
    for name, writers, least, most, exact in measures.copy_counts(figures):
        if exact:
            checked += 1
        if exact and not least == most == writers - 1:
            wrong += 1
            print(f"wrong count of copies: {name} made {number(least)}-{number(most)} per burst "
                  f"instead of {writers - 1}")
    if checked:
        print(f"copies by writers at once: N-1 in every burst of {checked - wrong} of {checked} "
              "benchmarks of byre's two forms")
    elif not figures.stats_enabled:
        print("copies by writers at once: not counted, as byre was built without stats")
    return wrong == 0


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", nargs="?", help="the program byre-bench; not with --from")
    parser.add_argument("outdir", help="folder for benchmark.json, ratios.json and the plots")
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_const", dest="effort", const="quick",
                        help="fewer and shorter rounds, up to 16 MiB: less than half a minute")
    effort.add_argument("--smoke", action="store_const", dest="effort", const="smoke",
                        help="only that everything runs, up to 4 KiB: the figures mean nothing")
    parser.set_defaults(effort="full")
    parser.add_argument("--rounds", type=int, help="how often everything is measured")
    parser.add_argument("--filter", metavar="REGEX", help="only the benchmarks of such a name")
    parser.add_argument("--json", metavar="FILE", help="where to write Google Benchmark's JSON, all "
                        "rounds in one (default: OUTDIR/benchmark.json)")
    parser.add_argument("--from", metavar="FILE", dest="source",
                        help="run nothing: report what such a JSON file has")
    parser.add_argument("--summary", metavar="FILE", help="also write medians and quartiles, of which "
                        "./dev docs draws plots")
    options = parser.parse_args(arguments)
    if options.rounds is None:
        options.rounds = ROUNDS[options.effort]
    if options.rounds < 1:
        parser.error("--rounds has to be at least 1")
    if (options.binary is None) == (options.source is None):
        parser.error("give either the program to run or --from")
    return options


def report(options):
    try:
        os.makedirs(options.outdir, exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot make {options.outdir}: {error.strerror}") from error
    document, copies_right = (load(options.source), True) if options.source else measure(options)
    if not options.source:
        save(options.json or os.path.join(options.outdir, "benchmark.json"), document)
    figures = measures.Figures(document)
    results = measures.evaluate(figures)
    save(os.path.join(options.outdir, "ratios.json"), [result._asdict() for result in results])
    print_table(results)
    copies_right = check_copies(figures) and copies_right
    rounds = 1 + max(run["repetition_index"] for run in document["benchmarks"])
    if options.summary:
        save_summary(options.summary, summary.of(document, figures, results, rounds))
    for name, draw in [("benchmark.svg", plot.draw), ("functionalize.svg", plot.draw_counts),
                       ("pages.svg", plot.draw_pages)]:
        picture = os.path.join(options.outdir, name)
        obstacle = draw(figures, picture, rounds)
        print(f"no plot: {obstacle}" if obstacle else f"plot: {picture}")
    return copies_right


def main():
    try:
        return 0 if report(parse_arguments(sys.argv[1:])) else WRONG_COUNT
    except Failure as failure:
        print(f"report.py: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
