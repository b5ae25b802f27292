#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the program that against.py compares, so that it cannot rot: against_test.py PROGRAM. No time is looked at."""

import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import against

PROGRAM = sys.argv.pop()


class Program(unittest.TestCase):
    def test_it_prints_the_same_operations_with_and_without_a_recording(self):
        plain, recorded = against.measured(PROGRAM), against.measured(PROGRAM, "recording")
        self.assertEqual(list(plain), list(recorded))
        self.assertEqual(len(plain), 11)
        self.assertTrue(all(ns >= 0 for ns in [*plain.values(), *recorded.values()]))


class Comparison(unittest.TestCase):
    def test_a_ratio_is_taken_within_each_round(self):
        runs = {"there": iter([{"clone": 2.0}, {"clone": 10.0}, {"clone": 4.0}]),
                "here": iter([{"clone": 2.0}, {"clone": 20.0}, {"clone": 2.0}]),
                "recording": iter([{"clone": 50.0}, {"clone": 70.0}, {"clone": 60.0}])}
        with mock.patch.object(against, "measured", side_effect=lambda *command: next(runs[command[-1]])) as measured:
            figures = against.compare("there", "here", 3)
        asked = [call.args[-1] for call in measured.call_args_list]
        self.assertEqual(asked, ["there", "here", "recording", "here", "there", "recording",
                                 "there", "here", "recording"])
        self.assertEqual(figures["clone"]["here_over_there"], {"median": 1.0, "least": 0.5, "most": 2.0})
        self.assertEqual(figures["clone"]["recording_ns"]["median"], 60)
        self.assertRegex(against.table("v1", figures), r"clone +4\.00 +2\.00 +1\.000 +0\.500 to 2\.000 +60$")


if __name__ == "__main__":
    unittest.main()
