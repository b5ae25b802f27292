#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs reshape_audit. byre must report each pipeline whose results change if reshape copies, with the right advice."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from programs import figures_of, run

ADVICE = {"key_value_cache": ["view"], "snapshot_by_reshape": ["reshape_and_clone"],
          "flat_parameters": ["view_or_clone"], "scratch_filled_twice": ["nothing", "reshape_and_clone"],
          "channel_statistics": []}


class TheAudit(unittest.TestCase):
    def test_reports_exactly_the_pipelines_whose_results_change(self):
        figures = figures_of()
        self.assertEqual(figures["faults"], [])
        found = figures["pipelines"]
        self.assertEqual({name: sorted(report["advice"] for report in one["reports"]) for name, one in found.items()},
                         ADVICE)
        for name, one in found.items():
            self.assertEqual(one["equal with copies"], not one["reports"], name)

    def test_prints_call_sites_and_advice(self):
        said = run()
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        self.assertRegex(said.stdout, r"reshaped at .*pipelines\.hpp:\d+, \[3, 4\] to \[3, 2, 2\]")
        self.assertIn("write view in place of that reshape", said.stdout)
        self.assertIn("write reshape(...).clone()", said.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
