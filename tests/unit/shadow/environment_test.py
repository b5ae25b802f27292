# SPDX-License-Identifier: BSL-1.0
"""What the environment says of reports, said to a program: environment_test.py PROGRAM."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop()


class Environment(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_with(self, *arguments, **variables):
        names = ("BYRE_RESHAPE_" + name for name in variables)
        environment = {name: value for name, value in os.environ.items() if "BYRE_RESHAPE" not in name}
        environment |= dict(zip(names, map(str, variables.values())))
        return subprocess.run(
            [PROGRAM, *arguments], env=environment, capture_output=True, text=True, check=True
        )

    def complaint_about(self, **variables):
        first, second = self.run_with("twice", **variables).stdout.splitlines()
        self.assertEqual(first, second)
        return first

    def test_nothing_is_asked(self):
        ran = self.run_with(SUMMARY="", SILENCE="", BACKTRACE="")
        self.assertTrue(ran.stderr.startswith("byre: warning: this code relies on reshape"))
        self.assertNotIn("were watched", ran.stderr)
        self.assertNotIn("by way of", ran.stderr)

    def test_summary_on_stderr(self):
        self.assertIn("\nbyre: reshape: 1 reshape was watched; 1 access", self.run_with(SUMMARY="stderr").stderr)

    def test_summary_in_json(self):
        path = self.folder / "all.json"
        self.run_with(SUMMARY=path)
        summary = json.loads(path.read_text())
        self.assertEqual(summary["violations"], 1)
        self.assertEqual(summary["triples"][0]["access"]["line"], 12)

    def test_summary_of_who_watched_nothing_replaces_an_earlier_one(self):
        path = self.folder / "all.json"
        self.run_with(SUMMARY=path)
        self.run_with("never", SUMMARY=path)
        self.assertEqual(
            json.loads(path.read_text()),
            {"reshapes": 0, "violations": 0, "silenced": 0, "unaudited": 0, "unaudited_lines": [],
             "triples": []},
        )

    def test_summary_of_who_watched_nothing_goes_nowhere_unless_it_is_asked_for(self):
        for asked in ({}, {"SUMMARY": ""}):
            ran = self.run_with("never", **asked)
            self.assertEqual(ran.stdout + ran.stderr, "")

    def test_summary_has_what_happens_where_statics_are_destroyed(self):
        path = self.folder / "all.json"
        self.run_with("late", SUMMARY=path)
        self.assertEqual(json.loads(path.read_text())["violations"], 1)

    def test_summary_of_each_process_in_its_own_file(self):
        for _ in range(2):
            self.run_with(SUMMARY=self.folder / "of-%p.json")
        summaries = list(self.folder.glob("of-*.json"))
        self.assertEqual(len(summaries), 2)
        for summary in summaries:
            self.assertRegex(summary.name, r"^of-\d+\.json$")
            self.assertEqual(json.loads(summary.read_text())["violations"], 1)

    def test_summary_as_text(self):
        path = self.folder / "all.txt"
        self.run_with(SUMMARY=path)
        self.assertIn("\n1. this code relies", path.read_text())

    def test_summary_that_cannot_be_written_is_a_warning(self):
        ran = self.run_with(SUMMARY="/nowhere/all.json")
        self.assertIn("byre: warning: the summary of reshapes was not written: ", ran.stderr)
        self.assertIn("/nowhere/all.json", ran.stderr)

    def test_summary_elsewhere_is_refused(self):
        self.assertIn('"all.xml" (BYRE_RESHAPE_SUMMARY', self.complaint_about(SUMMARY="all.xml"))
        ran = self.run_with("never", SUMMARY="all.xml")
        self.assertIn('was not written: reshape: a summary is to go to "all.xml"', ran.stderr)

    def test_silenced(self):
        path = self.folder / "known.txt"
        path.write_text("program.cpp:11\n")
        ran = self.run_with(SILENCE=path, SUMMARY="stderr")
        self.assertNotIn("warning", ran.stderr)
        self.assertIn("1 more was silenced", ran.stderr)

    def test_wrong_list_is_refused_by_its_line(self):
        path = self.folder / "known.txt"
        path.write_text("# all\nprogram.cpp:first\n")
        self.assertIn(f"{path}:2: ", self.complaint_about(SILENCE=path))

    def test_missing_list_is_refused(self):
        self.assertIn("/nowhere/known.txt", self.complaint_about(SILENCE="/nowhere/known.txt"))

    def test_backtraces(self):
        ran = self.run_with(BACKTRACE="1")
        for what in ("reshaped", "written", "then read"):
            self.assertIn(f"{what} by way of\n", ran.stderr)
        self.assertNotIn("by way of", self.run_with(BACKTRACE="0").stderr)

    def test_other_than_backtraces_or_none_is_refused(self):
        self.assertIn('"yes". Set it to 1', self.complaint_about(BACKTRACE="yes"))

    def test_asked_until_it_is_right_and_never_again(self):
        name = "BYRE_RESHAPE_BACKTRACE"
        first, second = self.run_with("twice", name, "0", BACKTRACE="yes").stdout.splitlines()
        self.assertIn('"yes". Set it to 1', first)
        self.assertEqual(second, "reshaped")
        ran = self.run_with("twice", name, "yes", BACKTRACE="0")
        self.assertEqual(ran.stdout.splitlines(), ["reshaped", "reshaped"])


unittest.main()
