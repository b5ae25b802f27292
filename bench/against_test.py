#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs what against.py compares, so that it cannot rot, and gives against.py what it cannot use: against_test.py PROGRAM.
No time is looked at."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import against

PROGRAM = sys.argv.pop()


class Program(unittest.TestCase):
    def test_it_prints_the_same_operations_with_and_without_a_recording(self):
        plain, recorded = against.measured(PROGRAM), against.measured(PROGRAM, "recording")
        self.assertEqual(list(plain), list(recorded))
        self.assertEqual(len(plain), 5)
        self.assertTrue(all(ns >= 0 for ns in [*plain.values(), *recorded.values()]))


class Comparison(unittest.TestCase):
    def test_a_ratio_is_taken_within_each_round(self):
        runs = {"there": iter([{"clone": 2.0}, {"clone": 10.0}, {"clone": 4.0}]),
                "here": iter([{"clone": 2.0}, {"clone": 20.0}, {"clone": 2.0}]),
                "recording": iter([{"clone": 50.0}, {"clone": 70.0}, {"clone": 60.0}])}
        asked = []

        def measured(*command):
            name = command[-1]
            asked.append(name)
            return next(runs[name])

        before, against.measured = against.measured, measured
        try:
            figures = against.compare("there", "here", 3)
        finally:
            against.measured = before
        self.assertEqual(asked, ["there", "here", "recording", "here", "there", "recording",
                                 "there", "here", "recording"])
        self.assertEqual(figures["clone"]["here_over_there"], {"median": 1.0, "least": 0.5, "most": 2.0})
        self.assertEqual(figures["clone"]["recording_ns"]["median"], 60)
        self.assertRegex(against.table("v1", figures), r"clone +4\.00 +2\.00 +1\.000 +0\.500 to 2\.000 +60$")


class WrongInput(unittest.TestCase):
    def refused(self, *arguments):
        done = subprocess.run([sys.executable, against.__file__, *arguments], capture_output=True, text=True)
        self.assertEqual(done.stdout, "")
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stderr

    def test_is_refused_with_a_reason(self):
        code, said = self.refused("no-such-revision")
        self.assertEqual(code, 1)
        self.assertIn("against.py: git", said)
        code, said = self.refused("HEAD", "--rounds", "0")
        self.assertEqual(code, 2)
        self.assertIn("--rounds takes a number from 1 on, not 0", said)


if __name__ == "__main__":
    unittest.main()
