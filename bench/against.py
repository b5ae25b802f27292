#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares what is here with another revision of byre: whether a change made lazy clones, writes and allocations
slower. Both are built as a user builds them, and one small program, against.cpp, is run with each by turns. A ratio is
taken within each round; shown is its median over the rounds, and its least and most. The same program is run while
byre records what it does, too. Speed is reported, not tested: the exit status is 0 whatever the ratios are."""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
CORE_ALONE = [f"-D{feature}=disabled" for feature in
              ("tensor", "functional", "tests", "verification", "stress", "benchmarks", "examples")]


class Failure(Exception):
    """A message for the user, in a few lines."""


def run(*command, **settings):
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **settings)
    except OSError as error:
        raise Failure(f"cannot run {command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-5:]
        raise Failure(f"{' '.join(map(str, command[:3]))} failed:\n  " + "\n  ".join(said))
    return done.stdout


def build(source, folder):
    """A program that measures the byre of `source`."""
    run("meson", "setup", folder, source, "-Dbuildtype=release", *CORE_ALONE)
    run("ninja", "-C", folder)
    program = folder / "against"
    # Aligned: a loop of a few instructions takes twice as long where it crosses a line.
    run("c++", "-std=c++20", "-O2", "-falign-loops=64", "-falign-functions=64", "-o", program,
        ROOT / "bench/against.cpp", f"-I{source / 'core'}", f"-I{folder / 'core'}", f"-L{folder / 'core'}", "-lbyre",
        f"-Wl,-rpath,{folder / 'core'}")
    return program


def measured(*command):
    lines = [line.split("\t") for line in run(*command).splitlines()]
    return {name: float(ns) for name, ns in lines}


def summary(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def compare(there, here, rounds):
    runs = {"there": [], "here": [], "recording": []}
    commands = {"there": [there], "here": [here], "recording": [here, "recording"]}
    for index in range(rounds):
        order = ["there", "here"] if index % 2 == 0 else ["here", "there"]
        for name in [*order, "recording"]:
            runs[name].append(measured(*commands[name]))
        print(f"round {index + 1} of {rounds} done", file=sys.stderr, flush=True)
    return {
        operation: {
            "there_ns": summary([one[operation] for one in runs["there"]]),
            "here_ns": summary([one[operation] for one in runs["here"]]),
            "here_over_there": summary([here[operation] / there[operation]
                                        for here, there in zip(runs["here"], runs["there"])]),
            "recording_ns": summary([one[operation] for one in runs["recording"]]),
        } for operation in runs["here"][0]
    }


def table(revision, figures):
    rows = [("operation", f"{revision} (ns)", "here (ns)", "here / there", "least to most", "recorded (ns)")]
    for operation, figure in figures.items():
        ratio = figure["here_over_there"]
        rows.append((operation, f"{figure['there_ns']['median']:.2f}", f"{figure['here_ns']['median']:.2f}",
                     f"{ratio['median']:.3f}", f"{ratio['least']:.3f} to {ratio['most']:.3f}",
                     f"{figure['recording_ns']['median']:.0f}"))
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", help="a revision that git knows, of a commit with the same interface")
    parser.add_argument("--rounds", type=int, default=9, metavar="N", help="default: 9")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error(f"--rounds takes a number from 1 on, not {given.rounds}")
    try:
        commit = run("git", "-C", ROOT, "rev-parse", "--verify", given.revision + "^{commit}").strip()
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            run("git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, folder / "source")
            run("git", "-C", folder / "source", "checkout", "--quiet", commit)
            figures = compare(build(folder / "source", folder / "there"), build(ROOT, folder / "here"), given.rounds)
    except Failure as failure:
        print(f"against.py: {failure}", file=sys.stderr)
        return 1
    print(json.dumps(figures, indent=2) if given.json else table(given.revision, figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
