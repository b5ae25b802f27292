# SPDX-License-Identifier: BSL-1.0
"""A long run that is broken off goes on from there, by byre-verify and by spin's run.py:
journal_test.py BYRE_VERIFY RUN_PY."""
import json
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/support"))
import programs

SPIN = sys.argv.pop(1)
DROPS = ("--scenario", "drops_race_drops")


class Journal(programs.Test):
    def setUp(self):
        super().setUp()
        self.journal = self.scratch / "journal"

    def search(self, *arguments, status=0):
        ended = programs.run(*arguments, "--journal", self.journal, timeout=None)
        self.assertEqual(ended.returncode, status, ended)
        return ended.stdout

    def lines(self):
        return [json.loads(line) for line in self.journal.read_text().splitlines()]

    def test_what_ended_is_not_searched_again(self):
        self.search(*DROPS)
        (line,) = self.lines()
        # What is reported is what was kept.
        self.journal.write_text(json.dumps({**line, "executions": 12345}) + "\n")
        said = self.search(*DROPS, "--scenario", "three_drops_race")
        self.assertIn(f"1 of 2 searches are in {self.journal}\n", said)
        self.assertRegex(said, r"drops_race_drops +full +12,345 ")
        self.assertEqual(len(self.lines()), 2)

    def test_a_failure_is_kept_with_its_trace(self):
        wrong = ("--scenario", "known_wrong.count_then_lock_drops")
        first, again = self.search(*wrong), self.search(*wrong)
        self.assertEqual(first[first.index("again: "):].splitlines()[0],
                         again[again.index("again: "):].splitlines()[0])
        self.assertIn("use after free", again)
        self.assertIn("count_then_lock.lock_copy", again)

    def test_another_bound_or_mutant_is_another_search(self):
        self.search(*DROPS)
        self.search(*DROPS, "--bound", "1")
        self.search(*DROPS, "--mutant", "share_word.drop_owner:acquire")
        self.assertEqual(len(self.lines()), 3)

    def test_what_another_program_kept_is_searched_anew(self):
        self.search(*DROPS)
        (line,) = self.lines()
        self.journal.write_text(json.dumps({**line, "program": "another"}) + "\n")
        self.assertIn("0 of 1 searches are in", self.search(*DROPS))

    def test_what_was_cut_short_is_searched_anew_with_wider_limits_alone(self):
        short = ("--scenario", "three_drops_race", "--executions")
        self.search(*short, "50", status=1)
        self.assertIn("1 of 1 searches are in", self.search(*short, "50", status=1))
        self.assertIn("1 of 1 searches are in", self.search(*short, "40", status=1))
        self.assertIn("0 of 1 searches are in", self.search(*short, "50", "--seconds", "601", status=1))
        self.assertIn("0 of 1 searches are in", self.search(*short, "100000"))
        self.assertIn("1 of 1 searches are in", self.search(*short, "50"))

    def test_where_the_checker_gave_up_is_searched_anew(self):
        self.search(*DROPS)
        (line,) = self.lines()
        self.journal.write_text(json.dumps({**line, "verdict": "checker error"}) + "\n")
        self.assertIn("0 of 1 searches are in", self.search(*DROPS))

    def test_half_a_line_is_left_out(self):
        self.search(*DROPS)
        whole = self.journal.read_text()
        self.journal.write_text(whole + whole[:40])
        self.assertIn("1 of 2 searches are in", self.search(*DROPS, "--scenario", "three_drops_race"))
        self.assertEqual(len(self.lines()), 2)

    def test_another_file_is_refused_and_left_as_it_is(self):
        for text in ("x", "x\n", "{}\n", "[1]\n"):
            self.journal.write_text(text)
            self.assert_refused(1, "is no journal of searches: name another file, or remove it",
                                *DROPS, "--journal", self.journal)
            self.assertEqual(self.journal.read_text(), text)

    def test_a_device_is_no_journal(self):
        self.assert_refused(1, "/dev/zero is no journal of searches", *DROPS, "--journal", "/dev/zero")

    def test_a_deep_run_searches_each_program_of_a_family(self):
        figures = self.scratch / "figures.json"
        family = ("--deep", "--scenario", "programs.two_operations", "--executions", "3000",
                  "--json", figures)
        self.assertIn("0 of 78 searches", self.search(*family, status=1))
        (row,) = json.loads(figures.read_text())
        self.assertEqual(row["scenario"], "programs.two_operations")
        self.assertEqual(row["verdict"], "unknown")
        self.assertEqual(row["programs"] + len(row["left"]), 78)
        self.assertIn("write | write", row["left"])
        self.assertEqual(row["executions"], sum(line["executions"] for line in self.lines()))
        self.assertIn("78 of 78 searches", self.search(*family, status=1))

    def test_spin_goes_on_from_its_own(self):
        if shutil.which("spin") is None:
            self.skipTest("there is no spin")

        def run(status=0):
            ended = subprocess.run(
                [SPIN, "--only", "any programs / 3 / no deadlock", "--journal", self.journal],
                capture_output=True, text=True, check=False)
            self.assertEqual(ended.returncode, status, ended)
            return ended.stdout + ended.stderr

        run()
        (line,) = self.lines()
        line["result"]["states"] = 12345
        self.journal.write_text(json.dumps(line) + "\n" + json.dumps(line)[:30])
        self.assertIn(" 12,345 ", run())
        self.journal.write_text(json.dumps({**line, "model": "another"}) + "\n")
        self.assertIn(" 44,588 ", run())
        self.journal.write_text("x")
        self.assertIn("is no journal of searches: name another file, or remove it", run(1))


if __name__ == "__main__":
    unittest.main()
