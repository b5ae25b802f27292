#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs NumPy's own tests twice, plainly and with every new array copied lazily before use, and compares case by case.

The plugin lazily.py makes the copies. Exits with 1 if a case differs, and with 77 if a tool is not installed.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
PACKAGES = ["core", "fft", "lib", "linalg", "ma", "matrixlib", "polynomial", "random"]
LEFT_OUT = {
    "test_dot_big_stride": "uses two elements of np.empty() of 8 GiB, and in pages these take 8 GiB of memory",
    "test_identityless_reduction_huge_array": "reads 4 GiB of zeros, and in pages these take 4 GiB of memory",
    "test_memoryleak": "makes 1,000 arrays of 100 MB",
    "test_leak": "adds two integers 200,000 times",
}
OPTIONS = ["-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "lazily", "--continue-on-collection-errors"]
OPTIONS += ["-m", "not slow", "-k", " and ".join(f"not {name}" for name in LEFT_OUT)]


class Run:
    """A run of all cases in a process and a folder of its own."""

    def __init__(self, folder, arguments, environment):
        self.name, self.log, self.results = folder.name, folder / "log", folder / "results"
        folder.mkdir()
        paths = filter(None, [str(pathlib.Path(__file__).resolve().parent), os.environ.get("PYTHONPATH")])
        environment = os.environ | environment | {"PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(paths)}
        environment["LAZILY_RESULTS"] = str(self.results)
        self.process = subprocess.Popen([sys.executable, "-m", "pytest", *OPTIONS, *arguments], env=environment,
                                        cwd=folder, stdout=self.log.open("w"), stderr=subprocess.STDOUT)

    def lines(self):
        text = self.results.read_text(encoding="utf-8") if self.results.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def finished(self):
        """The message of each outcome of a phase of a case, and counts."""
        *lines, end = self.lines() or [["no case", "", ""]]
        if self.process.returncode not in (0, 1) or end[1] != "end":
            sys.exit(f"numpy_suite: the run {self.name} ended with status {self.process.returncode} after {end[0]}:\n"
                     + self.log.read_text(encoding="utf-8", errors="replace")[-3000:])
        return {(case, outcome): message for case, outcome, message in lines}, end[2]


def main():
    left_out = "\n".join(f"  {name} {why}" for name, why in LEFT_OUT.items())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog=f"cases that are left out, as are slow ones:\n{left_out}")
    parser.add_argument("packages", nargs="*", default=PACKAGES, help=f"of numpy (default: {' '.join(PACKAGES)})")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures to FILE")
    options = parser.parse_args()
    try:
        import hypothesis  # noqa: F401
        import numpy.core.tests
        import pytest  # noqa: F401
    except ImportError as error:
        print(f"numpy_suite: skipped: {error}. Install Debian's python3-numpy, python3-pytest, python3-hypothesis.")
        return SKIPPED
    folder = pathlib.Path(numpy.__file__).parent
    arguments = [f"--rootdir={folder}", *(f"{folder}/{name}/tests" for name in options.packages)]
    with tempfile.TemporaryDirectory(prefix="byre-numpy-") as name:
        runs = [Run(pathlib.Path(name, "plainly"), arguments, {})]
        runs += [Run(pathlib.Path(name, "lazily"), arguments, {"LAZILY_IN": str(folder)})]
        begin = time.monotonic()
        while any(run.process.poll() is None for run in runs):
            time.sleep(1)
            if (time.monotonic() - begin) % 30 < 1:
                done = ", ".join(f"{len({line[0] for line in run.lines()})} cases {run.name}" for run in runs)
                print(f"{time.monotonic() - begin:.0f} s: {done}", flush=True)
        (plain, plain_counts), (lazy, counts) = [run.finished() for run in runs]
    changes = sorted(plain.keys() ^ lazy.keys())
    for case, outcome in changes[:40]:
        how = "plainly" if (case, outcome) in plain else "lazily"
        print(f"{case}\n  {how}: {outcome} {lazy.get((case, outcome), '')}")
    cases, different = [sorted({case for case, _ in found}) for found in (plain.keys() | lazy.keys(), changes)]
    table = {}
    for name in options.packages:
        numbers = [sum(case.startswith(f"{name}/") for case in found) for found in (cases, different)]
        table[name] = {"cases": numbers[0], "different": numbers[1]}
        print("numpy.{}: {} cases, {} different".format(name, *numbers))
    print("{lazy} lazy copies, {refused} refused (Python objects, arrays of imports), {overwritten} overwritten by writes to the other "
          "side; {} + {cpu_seconds} s of processor time".format(plain_counts["cpu_seconds"], **counts))
    if options.json:
        figures = {"packages": table, "different": different, "plainly": plain_counts, "lazily": counts}
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if counts["lazy"] < len(cases):
        sys.exit(f"numpy_suite: {counts['lazy']} lazy copies in {len(cases)} cases. Expected more: look at lazily.py.")
    return 1 if different or counts["overwritten"] else 0


if __name__ == "__main__":
    sys.exit(main())
