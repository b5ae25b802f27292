#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Tests report.py, and runs the benchmarks briefly: report_test.py BINARY REPORT. Times are not checked."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

BINARY, REPORT = (os.path.abspath(path) for path in sys.argv[1:3])
sys.path.insert(0, os.path.dirname(REPORT))
import measures
import plot
import summary


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def report(*arguments):
    return run(sys.executable, REPORT, *arguments)


def listed_benchmarks():
    return {"/".join(line.split("/")[:4]) for line in
            run(BINARY, "--benchmark_list_tests").stdout.splitlines() if line.count("/") > 2}


def is_built(measure, listed):
    """False for a measure of a second seam, or of the C interface, that this build lacks."""
    optional = re.match("c_|seam_", measure.over)
    return not optional or any(name.startswith(optional[0]) for name in listed)


class Benchmarks(unittest.TestCase):
    def test_all_benchmarks_are_used_and_all_used_benchmarks_exist(self):
        used = {name for measure in measures.MEASURES for name in [measure.over, *measure.under]}

        class NameRecorder:
            """A summary that records the benchmarks that a plot uses."""
            def best(self, names, counter):
                used.update(names)

        for name in plot.PICTURES:
            self.assertEqual(plot.draw(name, NameRecorder(), "no.svg"), "there is nothing to draw")
        listed = listed_benchmarks()
        self.assertEqual(listed - used, set())
        # The machine may lack memory for a size, and plots use every count of every contender.
        sizes = {name.split("/")[2] for name in listed}
        asked = {name for measure in measures.MEASURES for name in [measure.over, *measure.under]
                 if name.split("/")[2] in sizes and is_built(measure, listed)}
        huge_pages_of_small_copies = {name for name in asked if "/raw_huge" in name and "/256KiB/" in name}
        self.assertEqual(asked - listed, huge_pages_of_small_copies)


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_contains_small_sizes_and_can_be_printed_from_a_file(self):
        reported = report(BINARY, self.folder, "--smoke", "--rounds=1")
        self.assertEqual(reported.returncode, 0, reported.stderr + reported.stdout)
        listed = listed_benchmarks()
        small = [measure for measure in measures.MEASURES
                 if measure.over.split("/")[2] in ("64B", "4KiB") and is_built(measure, listed)]
        kept = summary.Summary(self.folder / "bench.json")
        self.assertEqual([measure["title"] for measure in kept.measures], [measure.title for measure in small])
        for measure in kept.measures:
            self.assertIn(measure["title"], reported.stdout)
            self.assertGreaterEqual(measure["median"], 0, measure["title"])
        if "no plot: gnuplot is missing" not in reported.stdout:
            for picture in ["operations.svg", "functionalize.svg"]:
                ElementTree.parse(self.folder / picture)
        again = report(BINARY, self.folder, "--from", self.folder / "bench.json")
        self.assertEqual((again.returncode, again.stdout), (0, reported.stdout), again.stderr)

    def test_ratios_compare_times_of_the_same_round(self):
        runs = [(2.0, 1.0, 0), (9.0, 3.0, 0), (8.0, 2.0, 0), (1.0, 9.0, 1)]
        documents = [{"context": {"date": "2026-01-01T", "num_cpus": 2}, "benchmarks": [
            {"name": "steal/byre/64B/recycled/iterations:3", "ns": over, "is_disturbed": disturbed},
            {"name": "steal/raw/64B/recycled/iterations:3", "ns": under}]} for over, under, disturbed in runs]
        summary.save(self.folder / "kept.json", documents)
        kept = summary.Summary(self.folder / "kept.json")
        self.assertEqual(kept.measures, [{"title": "steal / raw pointer, 64B", "unit": "ratio", "median": 3.0,
                                          "quartiles": [2.5, 3.5], "bound": None, "disturbed": False}])
        self.assertEqual(kept.best(["steal/byre/64B/recycled"]), [5.0, 8.0, 8.5])

    def test_fails_if_a_number_of_copies_is_wrong(self):
        wrong = run(BINARY, "--smoke", "--expect-one-copy-more", "--benchmark_filter=writers_2/byre/64B")
        if "byre_stats: disabled" in wrong.stderr:
            self.skipTest("byre was built without stats")
        self.assertEqual(wrong.returncode, 3, wrong.stdout)
        self.assertIn("2 writers at once made 1 copies instead of 2", wrong.stderr)
        program = self.folder / "wrong"
        program.write_text(f'#!/bin/sh\nexec {BINARY} --expect-one-copy-more "$@"\n')
        program.chmod(0o700)
        failed = report(program, self.folder, "--smoke", "--rounds=1", "--filter=writers_2/byre/64B")
        self.assertEqual(failed.returncode, 3, failed.stderr)
        self.assertIn("wrong count of copies", failed.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
