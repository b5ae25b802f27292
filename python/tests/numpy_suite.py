#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs NumPy's own tests twice, plainly and with every new array copied lazily before use, and compares case by case.

The plugin lazily.py makes the copies. Exits with 1 if a case differs, and with 77 if a tool is not installed.
"""
import argparse
import collections
import importlib.util
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


def fail(message):
    sys.exit(f"numpy_suite: {message}")


def parsed():
    listed = "\n".join(f"  {name} {why}" for name, why in LEFT_OUT.items())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog=f"cases that are left out beside slow ones:\n{listed}")
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"of numpy (default: {' '.join(PACKAGES)})")
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="print the first N differences (default: 20)")
    return parser.parse_args()


def numpy_folder(packages):
    missing = [name for name in ("numpy", "pytest", "hypothesis") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"numpy_suite: skipped, {', '.join(missing)} not installed. Install python3-{missing[0]}.")
        sys.exit(SKIPPED)
    folder = pathlib.Path(importlib.util.find_spec("numpy").origin).parent
    if not (folder / "core/tests").is_dir():
        print(f"numpy_suite: skipped, NumPy's tests are not in {folder}. Install Debian's python3-numpy.")
        sys.exit(SKIPPED)
    if importlib.util.find_spec("byre") is None:
        fail("module byre not found. Set PYTHONPATH to the folder `python` of the build.")
    for name in packages:
        if not (folder / name / "tests").is_dir():
            fail(f"package numpy.{name} has no folder {folder / name / 'tests'}. Name one of: {' '.join(PACKAGES)}.")
    return folder


class Run:
    """A run of all cases in a process of its own."""

    def __init__(self, how, folder, packages, work):
        self.how, self.log, self.results = how, work / f"{how}.log", work / f"{how}.json"
        cases = ["-m", "not slow", "-k", " and ".join(f"not {name}" for name in LEFT_OUT), f"--rootdir={folder}"]
        cases += [f"{folder}/{name}/tests" for name in packages]
        options = ["-q", "--assert=plain", "-p", "no:cacheprovider", "--continue-on-collection-errors", "-p", "lazily"]
        options += [f"--results={self.results}"] + ([f"--lazily-in={folder}"] if how == "lazily" else [])
        paths = [str(pathlib.Path(__file__).resolve().parent), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        (work / how).mkdir()
        self.process = subprocess.Popen([sys.executable, "-m", "pytest", *options, *cases], stdout=self.log.open("w"),
                                        stderr=subprocess.STDOUT, cwd=work / how, env=environment)

    def lines(self):
        text = self.results.read_text(encoding="utf-8") if self.results.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def finished(self):
        """The phases of each case with their outcomes, messages of failures, and counts."""
        lines = self.lines()
        if self.process.returncode not in (0, 1) or not lines or lines[-1][1] != "end":
            last = lines[-1][0] if lines else "no case"
            fail(f"the run {self.how} ended with status {self.process.returncode} after {last}:\n"
                 + self.log.read_text(encoding="utf-8", errors="replace")[-3000:])
        outcomes, messages = collections.defaultdict(list), {}
        for case, phase, message in lines[:-1]:
            outcomes[case].append(phase)
            messages[case] = messages.get(case, "") + message
        return outcomes, messages, lines[-1][2]


def main():
    options = parsed()
    packages = options.packages or PACKAGES
    folder = numpy_folder(packages)
    with tempfile.TemporaryDirectory(prefix="byre-numpy-") as work:
        runs = [Run(how, folder, packages, pathlib.Path(work)) for how in ("plainly", "lazily")]
        begin = time.monotonic()
        while any(run.process.poll() is None for run in runs):
            time.sleep(1)
            if (time.monotonic() - begin) % 30 < 1:
                done = ", ".join(f"{len({line[0] for line in run.lines()})} cases {run.how}" for run in runs)
                print(f"{time.monotonic() - begin:.0f} s: {done}", flush=True)
        (plain, _, plain_counts), (lazy, messages, counts) = [run.finished() for run in runs]
    different = sorted(case for case in plain.keys() | lazy.keys() if plain.get(case) != lazy.get(case))
    for case in different[: options.show]:
        print(f"{case}\n  plainly: {plain.get(case)}\n  lazily: {lazy.get(case)}\n  {messages.get(case, '')}")
    table = {}
    for name in packages:
        all_cases = [case for case in plain.keys() | lazy.keys() if case.startswith(f"{name}/")]
        table[name] = {"cases": len(all_cases), "different": sum(case.startswith(f"{name}/") for case in different)}
        print(f"numpy.{name}: {len(all_cases)} cases, {table[name]['different']} different")
    print(f"{counts.get('lazy', 0)} lazy copies, {counts.get('refused', 0)} refused (Python objects), "
          f"{counts.get('overwritten', 0)} overwritten by writes to the other side; "
          f"{plain_counts['cpu_seconds']} + {counts['cpu_seconds']} s of processor time")
    if options.json:
        figures = {"packages": table, "different": different, "plainly": plain_counts, "lazily": counts}
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if counts.get("lazy", 0) < len(lazy):
        fail(f"{counts.get('lazy', 0)} lazy copies in {len(lazy)} cases. Expected more than cases: look at lazily.py.")
    return 1 if different or counts.get("overwritten") else 0


if __name__ == "__main__":
    sys.exit(main())
