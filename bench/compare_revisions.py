#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares the speed of the working tree with another revision of byre, to find out if a change made lazy clones,
writes or allocations slower. The script builds both with release settings and runs the program compare_revisions.cpp
with each of them alternately. A ratio is taken within each round. The table shows the median, the minimum and the
maximum of the ratios over the rounds, and the time of each operation during a recording, with tagged data and under a
budget. The exit status does not depend on the ratios: it is 0, or 1 if the comparison failed."""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
CORE_ONLY = [f"-D{feature}=disabled" for feature in
              ("tensor", "functional", "tests", "verification", "stress", "benchmarks", "examples")]

MODES = {"recording": "recorded", "tagged": "tagged", "budgeted": "budgeted"}  # arguments of the program


class Failure(Exception):
    """A message for the user, in a few lines."""


def run(*command, **settings):
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **settings)
    except OSError as error:
        raise Failure(f"cannot run {command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        last_lines = (done.stderr or done.stdout).strip().splitlines()[-5:]
        raise Failure(f"{' '.join(map(str, command[:3]))} failed:\n  " + "\n  ".join(last_lines))
    return done.stdout


def build(source, folder):
    """Builds byre from `source`, and the program that measures it; returns the path of the program."""
    run("meson", "setup", folder, source, "-Dbuildtype=release", *CORE_ONLY)
    run("ninja", "-C", folder)
    program = folder / "compare_revisions"
    # Loops are aligned, because a loop of a few instructions takes twice as long if it crosses a cache line.
    run("c++", "-std=c++20", "-O2", "-falign-loops=64", "-falign-functions=64", "-o", program,
        ROOT / "bench/compare_revisions.cpp", f"-I{source / 'core'}", f"-I{folder / 'core'}",
        f"-L{folder / 'core'}", "-lbyre", f"-Wl,-rpath,{folder / 'core'}")
    return program


def measured(*command):
    lines = [line.split("\t") for line in run(*command).splitlines()]
    return {name: float(ns) for name, ns in lines}


def summary(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def compare(base, current, rounds):
    commands = {"base": [base], "current": [current], **{mode: [current, mode] for mode in MODES}}
    runs = {name: [] for name in commands}
    for index in range(rounds):
        order = ["base", "current"] if index % 2 == 0 else ["current", "base"]
        for name in [*order, *MODES]:
            runs[name].append(measured(*commands[name]))
        print(f"round {index + 1} of {rounds} done", file=sys.stderr, flush=True)
    return {
        operation: {
            "base_ns": summary([one[operation] for one in runs["base"]]),
            "current_ns": summary([one[operation] for one in runs["current"]]),
            "ratio": summary([current[operation] / base[operation]
                                        for current, base in zip(runs["current"], runs["base"])]),
            **{f"{mode}_ns": summary([one[operation] for one in runs[mode]]) for mode in MODES},
        } for operation in runs["current"][0]
    }


def table(revision, figures):
    rows = [("operation", f"{revision} (ns)", "current (ns)", "ratio", "least to most",
             *(f"{name} (ns)" for name in MODES.values()))]
    for operation, figure in figures.items():
        ratio = figure["ratio"]
        rows.append((operation, f"{figure['base_ns']['median']:.2f}", f"{figure['current_ns']['median']:.2f}",
                     f"{ratio['median']:.3f}", f"{ratio['least']:.3f} to {ratio['most']:.3f}",
                     *(f"{figure[f'{mode}_ns']['median']:.0f}" for mode in MODES)))
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", help="git revision to compare with; its headers must compile compare_revisions.cpp")
    parser.add_argument("--rounds", type=int, default=9, metavar="N",
                        help="number of rounds, at least 1 (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error(f"--rounds must be at least 1, not {given.rounds}")
    try:
        commit = run("git", "-C", ROOT, "rev-parse", "--verify", given.revision + "^{commit}").strip()
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            run("git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, folder / "source")
            run("git", "-C", folder / "source", "checkout", "--quiet", commit)
            figures = compare(build(folder / "source", folder / "base"), build(ROOT, folder / "current"), given.rounds)
    except Failure as failure:
        print(f"compare_revisions.py: {failure}", file=sys.stderr)
        return 1
    print(json.dumps(figures, indent=2) if given.json else table(given.revision, figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
