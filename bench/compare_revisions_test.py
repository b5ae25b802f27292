#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Tests compare_revisions.py and runs its program: compare_revisions_test.py PROGRAM. Times are not checked."""

import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import compare_revisions

PROGRAM = sys.argv.pop()


class Program(unittest.TestCase):
    def test_prints_all_operations_in_each_mode(self):
        plain = compare_revisions.measured(PROGRAM, "test")
        self.assertEqual(len(plain), 16)
        for mode in compare_revisions.MODES:
            with self.subTest(mode):
                times = compare_revisions.measured(PROGRAM, "test", mode)
                self.assertEqual(list(times), list(plain))
                self.assertTrue(all(ns >= 0 for ns in times.values()))


class Comparison(unittest.TestCase):
    def test_ratios_compare_times_of_the_same_round(self):
        runs = {"base": iter([{"clone": 2.0}, {"clone": 10.0}, {"clone": 4.0}]),
                "current": iter([{"clone": 2.0}, {"clone": 20.0}, {"clone": 2.0}]),
                "recording": iter([{"clone": 50.0}, {"clone": 70.0}, {"clone": 60.0}]),
                "tagged": iter([{"clone": 5.0}, {"clone": 7.0}, {"clone": 6.0}]),
                "budgeted": iter([{"clone": 8.0}, {"clone": 8.0}, {"clone": 9.0}])}
        with mock.patch.object(compare_revisions, "measured",
                               side_effect=lambda *command: next(runs[command[-1]])) as measured:
            figures = compare_revisions.compare("base", "current", 3)
        asked = [call.args[-1] for call in measured.call_args_list]
        modes = ["recording", "tagged", "budgeted"]
        self.assertEqual(asked, ["base", "current", *modes, "current", "base", *modes, "base", "current", *modes])
        self.assertEqual(figures["clone"]["ratio"], {"median": 1.0, "least": 0.5, "most": 2.0})
        self.assertEqual(figures["clone"]["recording_ns"]["median"], 60)
        self.assertRegex(compare_revisions.table("v1", figures), r"clone +4\.00 +2\.00 +1\.000 +0\.500 to 2\.000 +60 +6 +8$")


if __name__ == "__main__":
    unittest.main()
