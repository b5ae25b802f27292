#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares what the C++ code and the proofs' transitions do, step by step, from every small state.

usage: compare_steps.py PROTOCOL_STEPS PROTOCOL_STEPS.PY PROTOCOL_TABLES
Any difference fails, and is printed."""

import difflib
import pathlib
import subprocess
import sys

LIMIT_S = 120


def lines_of(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        sys.exit(f"compare_steps: {' '.join(map(str, command))} has not ended in {LIMIT_S} s")
    if done.returncode != 0:
        sys.exit(f"compare_steps: {' '.join(map(str, command))} failed:\n{done.stderr or done.stdout[-2000:]}")
    return done.stdout.splitlines()


def main(program, *model):
    code, model = lines_of([pathlib.Path(program).resolve()]), lines_of([sys.executable, *model])
    if code == model and code:
        print(f"{len(code)} runs of operations, with equal steps in the code and in the model")
        return 0
    differences = list(difflib.unified_diff(code, model, "the C++ code", "the model", n=0, lineterm=""))
    print(*differences[:60], sep="\n")
    print(f"compare_steps: the code and the model differ, in {len(differences)} lines of a diff")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 4 else __doc__)
