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
        ran = self.run_with(SUMMARY="", SUPPRESSIONS="", SILENCE="")
        self.assertTrue(ran.stderr.startswith("byre: warning: this code relies on reshape"))
        self.assertNotIn("were tracked", ran.stderr)

    def test_summary_on_stderr(self):
        self.assertIn("\nbyre: reshape: 1 reshape was tracked; 1 access", self.run_with(SUMMARY="stderr").stderr)

    def test_summary_in_json(self):
        path = self.folder / "all.json"
        self.run_with(SUMMARY=path)
        summary = json.loads(path.read_text())
        self.assertEqual(summary["violations"], 1)
        self.assertEqual(summary["triples"][0]["access"]["line"], 12)

    def test_summary_of_who_tracked_nothing_replaces_an_earlier_one(self):
        path = self.folder / "all.json"
        self.run_with(SUMMARY=path)
        self.run_with("never", SUMMARY=path)
        self.assertEqual(
            json.loads(path.read_text()),
            {"reshapes": 0, "violations": 0, "suppressed": 0, "untracked_escapes": 0,
             "escape_sites": [], "triples": []},
        )

    def test_summary_of_who_tracked_nothing_goes_nowhere_unless_it_is_asked_for(self):
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

    def test_suppressions_and_their_old_name_which_works_for_a_release(self):
        path = self.folder / "known.txt"
        path.write_text("program.cpp:11\n")
        for variables in ({"SUPPRESSIONS": path}, {"SILENCE": path},
                          {"SUPPRESSIONS": path, "SILENCE": "/nowhere/known.txt"}):
            ran = self.run_with(SUMMARY="stderr", **variables)
            self.assertNotIn("warning", ran.stderr)
            self.assertIn("1 more was suppressed", ran.stderr)

    def test_wrong_list_is_refused_by_its_line(self):
        path = self.folder / "known.txt"
        path.write_text("# all\nprogram.cpp:first\n")
        self.assertIn(f"{path}:2: ", self.complaint_about(SUPPRESSIONS=path))

    def test_missing_list_is_refused(self):
        self.assertIn("/nowhere/known.txt", self.complaint_about(SUPPRESSIONS="/nowhere/known.txt"))

    def test_asked_until_it_is_right_and_never_again(self):
        name, path = "BYRE_RESHAPE_SUMMARY", str(self.folder / "all.txt")
        first, second = self.run_with("twice", name, path, SUMMARY="all.xml").stdout.splitlines()
        self.assertIn('"all.xml"', first)
        self.assertEqual(second, "reshaped")
        ran = self.run_with("twice", name, "all.xml", SUMMARY=path)
        self.assertEqual(ran.stdout.splitlines(), ["reshaped", "reshaped"])


unittest.main()
