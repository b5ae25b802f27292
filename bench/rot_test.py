#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the benchmarks for a moment, so that they cannot rot: rot_test.py BINARY REPORT. No time is
looked at."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

BINARY, REPORT = (os.path.abspath(path) for path in sys.argv[1:3])
WRITERS_BY_FORM = ["writers_2/byre/64B/recycled", "writers_2/lock/64B/recycled",
                   "writers_8/byre/64B/recycled", "writers_8/lock/64B/recycled"]


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def report(*arguments):
    return run(sys.executable, REPORT, *arguments)


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.output = cls.folder.name
        cls.reported = report(BINARY, cls.output, "--smoke")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def load(self, name):
        with open(os.path.join(self.output, name), encoding="utf-8") as file:
            return json.load(file)

    def test_the_run_succeeds(self):
        self.assertEqual(self.reported.returncode, 0, self.reported.stderr + self.reported.stdout)

    def test_the_table_has_every_small_measure(self):
        for title in ["read access / raw pointer, 64B", "write access when alone / raw pointer",
                      "write access when alone / count checked by hand, 64B",
                      "raw pointer and two additions / raw pointer, 64B",
                      "steal / raw pointer", "lazy clone + drop / floor, 64B",
                      "lazy clone + drop / shared_ptr, 4KiB",
                      "allocate + drop of an idle block / malloc + free, 4KiB", "write when shared / shared_ptr, 64B",
                      "two writers at once / copy-first, 64B",
                      "ask in a loop, alone / mutex + materialize, 64B", "memory per Buffer clone",
                      "memory per Storage clone",
                      "view + drop / three words, two counts, 64B",
                      "view + drop / the same by value, 64B",
                      "reshape / view + lazy clone, 64B", "add, new result / loop by hand, 4KiB",
                      "add in place / loop by hand, 4KiB", "row += 1 by chains / without the pass, 4KiB",
                      "use of a view of depth 1024 / 64, per view",
                      "use of all 1024 views of a chain / of 64, per view",
                      "write of 1024 parts by strides / 64, per part",
                      "memory kept of updates without a use by chains / queue"]:
            self.assertIn(title, self.reported.stdout)

    def test_every_contender_has_figures(self):
        contenders = {run["name"].split("/")[1] for run in self.load("benchmark.json")["benchmarks"]}
        self.assertEqual(contenders, {"by_value", "byre", "byre_alone", "chains", "copy", "copy_first",
                                      "eager", "floor", "lock", "loop", "malloc", "mutex", "plain", "queue", "raw",
                                      "raw_adds", "shared_ptr", "storage", "strides", "three_words",
                                      "tracked", "tracked_lines", "view_and_clone", "warn"})

    def test_writers_at_once_make_one_copy_fewer_than_there_are(self):
        document = self.load("benchmark.json")
        if document["context"]["byre_stats"] != "enabled":
            self.skipTest("byre was built without stats")
        copies = {"/".join(run["name"].split("/")[:4]): run.get("copies_per_burst")
                  for run in document["benchmarks"]}
        for name in WRITERS_BY_FORM:
            self.assertEqual(copies[name], int(name[len("writers_")]) - 1, name)

    def test_the_ratios_are_written(self):
        ratios = self.load("ratios.json")
        self.assertTrue(all(ratio["median"] > 0 for ratio in ratios if ratio["unit"] != "ns"))
        self.assertTrue(any(ratio["unit"] == "ns" for ratio in ratios))
        self.assertTrue(any(ratio["bound"] for ratio in ratios))

    def test_the_plot_is_drawn_or_said_not_to_be(self):
        if "no plot: gnuplot is missing" not in self.reported.stdout:
            for picture in ["benchmark.svg", "functionalize.svg"]:
                ElementTree.parse(os.path.join(self.output, picture))

    def test_a_stored_run_is_reported_again(self):
        with tempfile.TemporaryDirectory() as other:
            again = report("--from", os.path.join(self.output, "benchmark.json"), other)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(again.stdout.replace(other, ""),
                             self.reported.stdout.replace(self.output, ""))


class Failures(unittest.TestCase):
    def test_a_wrong_count_of_copies_fails_the_program(self):
        wrong = run(BINARY, "--effort=smoke", "--expect-one-copy-more",
                    "--benchmark_filter=writers_2/byre/64B")
        if "byre_stats: disabled" in wrong.stderr:
            self.skipTest("byre was built without stats")
        self.assertEqual(wrong.returncode, 3, wrong.stdout)
        self.assertIn("2 writers at once made 1 copies instead of 2", wrong.stderr)

    def test_a_wrong_count_in_a_stored_run_fails_the_report(self):
        run_with = {"name": "writers_2/byre/64B/recycled", "run_type": "iteration",
                    "repetition_index": 0, "ns": 1.0, "copies_per_burst": 2.0}
        with tempfile.TemporaryDirectory() as folder:
            stored = os.path.join(folder, "stored.json")
            with open(stored, "w", encoding="utf-8") as file:
                json.dump({"context": {"byre_stats": "enabled"}, "benchmarks": [run_with]}, file)
            failed = report("--from", stored, folder)
        self.assertEqual(failed.returncode, 3, failed.stderr)
        self.assertIn("wrong count of copies: writers_2/byre/64B/recycled", failed.stdout)

    def test_bad_input_is_an_error_with_a_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            missing = os.path.join(folder, "missing")
            empty = os.path.join(folder, "empty.json")
            with open(empty, "w", encoding="utf-8"):
                pass
            for arguments, reason in [((missing, folder), "cannot run"),
                                      (("--from", missing, folder), "cannot read"),
                                      (("--from", empty, folder), "is not a JSON file"),
                                      ((BINARY, folder, "--smoke", "--filter=nothing_has_this"),
                                       "no benchmark has such a name")]:
                failed = report(*arguments)
                self.assertEqual(failed.returncode, 1, arguments)
                self.assertIn(reason, failed.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
