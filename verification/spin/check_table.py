#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares what a model's operations and those of the C++ code do, step by step, from every small word.
Any difference fails, and is printed. The model is spin's, or what another command prints."""

import argparse
import difflib
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
LIMIT_S = 120


def lines_of(command):
    # Spin leaves files where it runs.
    with tempfile.TemporaryDirectory(prefix="byre-spin-") as folder:
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            sys.exit(f"check_table: {' '.join(map(str, command))} has not ended in {LIMIT_S} s")
    if done.returncode != 0:
        sys.exit(f"check_table: {' '.join(map(str, command))} failed:\n{done.stderr or done.stdout[-2000:]}")
    return done.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word_table", type=pathlib.Path, help="the program built from word_table.cpp")
    parser.add_argument("model", nargs="*", type=pathlib.Path, metavar="PROGRAM",
                        help="what prints the same of another model, and the files it is given")
    arguments = parser.parse_args()
    if not arguments.model and not shutil.which("spin"):
        print("check_table: spin is not installed (Debian: apt-get install spin); skipped")
        return SKIPPED
    if not arguments.word_table.is_file():
        parser.error(f"there is no program {arguments.word_table}")

    code = lines_of([arguments.word_table.resolve()])
    # Its last line counts processes.
    command = [path.resolve() for path in arguments.model] or ["spin", "-T", HERE / "table.pml"]
    model = [line for line in lines_of(command) if "process created" not in line]
    if code == model and code:
        print(f"{len(code)} runs of operations, the same steps in the code and in the model")
        return 0
    differences = list(difflib.unified_diff(code, model, "the C++ code", "the model", n=0, lineterm=""))
    print(*differences[:60], sep="\n")
    print(f"check_table: the code and the model differ, in {len(differences)} lines of a diff")
    return 1


if __name__ == "__main__":
    sys.exit(main())
