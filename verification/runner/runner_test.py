# SPDX-License-Identifier: BSL-1.0
"""Tests that byre-verify replays failures, rejects invalid command lines, and resumes interrupted runs.

usage: runner_test.py BYRE_VERIFY
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/support"))
import programs

WRONG = ("--scenario", "known_wrong.count_then_lock_drops")
DROPS = ("--scenario", "drops_race_drops")
# Litmus tests whose outcomes a reduced search misses by design: see verification/relacy/sleep_sets.hpp.
LEFT_OUT = {
    "litmus.spurious_failure",  # a compare-exchange that fails spuriously
    "litmus.blind.freed_header",  # the order of two accesses that the checker does not watch
}
# C code that kills the process of each search at its exit, after the search has reported its outcome.
CRASHES_AT_EXIT = "#include <signal.h>\nvoid _exit(int status) { for (;;) raise(SIGKILL); }"


def run(*arguments, env=None):
    return programs.run(*arguments, env=env, timeout=None)


def replay_string(*arguments):
    return run(*arguments).stdout.split("--replay '")[1].split("'")[0]


class Runner(programs.Test):
    def rejects(self, message, *arguments):
        ended = run(*arguments)
        self.assertEqual(ended.returncode, 2, ended)
        self.assertIn(message, ended.stderr)

    def test_unknown_names_are_rejected(self):
        self.rejects("unknown scenario 'x'", "--scenario", "x")
        self.rejects("unknown mutant 'x'", "--mutant", "x")
        self.rejects("fails without a mutant", *WRONG, "--mutant", "share_word.park:left-out")
        self.rejects("A small program has two threads", "--scenario", "drop; read | read")
        self.rejects("a bound other than 'full' or 'reduced' takes a whole number", "--bound=-1")
        self.rejects("--mutants does not take --scenario", "--mutants", *WRONG)

    def test_a_failure_is_replayed_step_by_step(self):
        good = replay_string(*WRONG)
        ended = run("--replay", good)
        self.assertEqual(ended.returncode, 0, ended)
        self.assertIn("use after free", ended.stdout)
        self.assertIn("count_then_lock.lock_copy", ended.stdout)
        self.rejects("malformed replay string: expected scenario/mutant/bound/state", "--replay", "x")
        self.rejects("malformed replay string: the length of the state is ", "--replay", good[:-1])
        self.rejects("stale replay string: ", "--replay", good[:-3])
        self.rejects("stale replay string: ", "--replay", good.replace(WRONG[1], DROPS[1]))

    def test_the_failing_program_of_a_family_is_replayed(self):
        replay = replay_string("--scenario", "programs.two_operations", "--mutant",
                               "share_word.wake_after_copy:left-out")
        self.assertTrue(replay.startswith("write | write/"), replay)
        self.assertIn("share_word.park", run("--replay", replay).stdout)

    def test_a_mutant_that_survives_is_an_error(self):
        self.assertEqual(run(*DROPS, "--mutant", "share_word.drop_owner:acquire").returncode, 0)
        survived = run(*DROPS, "--mutant", "share_word.park:left-out")
        self.assertEqual(survived.returncode, 1, survived)
        self.assertIn(": survived", survived.stdout)

    def test_a_search_that_crashes_after_its_report_fails(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("cc is not installed")
        library = self.scratch / "crashes_at_exit.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", library],
                       input=CRASHES_AT_EXIT, text=True, check=True)
        for scenario, expected in ((DROPS, "FAILED: checker error"), (WRONG, "use after free, as expected")):
            ended = run(*scenario, env={**os.environ, "LD_PRELOAD": str(library)})
            self.assertIn(expected, ended.stdout)
            self.assertEqual(ended.returncode, scenario != WRONG, ended)

    def test_every_small_program_is_searched_once(self):
        figures = self.scratch / "figures.json"
        run("--deep", "--executions", "1", "--json", figures,
            *(word for family in ("four", "three", "two")
              for word in ("--scenario", f"programs.{family}_operations")))
        rows = json.loads(figures.read_text())
        # A thread has no operation, or one of the 7 operations, or two operations. No operation follows a drop.
        threads = 1 + 7 + 6 * 7
        self.assertEqual(sum(row["programs"] + len(row["cut_short"]) for row in rows), threads * (threads + 1) // 2)

    def test_a_reduced_search_finds_the_outcomes_of_a_full_one(self):
        names = re.findall(r"^(litmus\.[\w.]+):", run("--list").stdout, re.MULTILINE)
        self.assertGreater(len(names), 50)
        figures = self.scratch / "figures.json"
        run("--bound", "reduced", "--json", figures, *(word for name in names for word in ("--scenario", name)))
        ends_otherwise = {row["scenario"] for row in json.loads(figures.read_text()) if not row["as_expected"]}
        self.assertEqual(ends_otherwise, LEFT_OUT)

    def test_an_interrupted_run_resumes(self):
        journal = self.scratch / "journal"

        def search(*arguments, status=0):
            before = journal.read_text().count('{"program"') if journal.exists() else 0
            ended = run(*arguments, "--journal", journal)
            self.assertEqual(ended.returncode, status, ended)
            return journal.read_text().count('{"program"') - before

        self.assertEqual(search(*DROPS), 1)
        self.assertEqual(search(*DROPS, "--scenario", "three_drops_race"), 1)
        self.assertEqual(search(*DROPS, "--bound", "1"), 1)
        self.assertEqual(search(*WRONG), 1)
        self.assertEqual(search(*WRONG), 0)
        # A search that was cut short is run again.
        short = ("--scenario", "two_drops_race_a_copy", "--executions")
        self.assertEqual(search(*short, "50", status=1), 0)
        self.assertEqual(search(*short, "100000"), 1)
        # A search of another build is run again, and so is a search whose line in the journal is incomplete.
        whole = journal.read_text()
        journal.write_text(whole.replace('"program":"', '"program":"1'))
        self.assertEqual(search(*DROPS), 1)
        journal.write_text(whole[:whole.index("}\n")])
        self.assertEqual(search(*DROPS), 1)
        self.assertEqual(search(*DROPS), 0)

    def test_a_file_that_is_no_journal_is_rejected(self):
        journal = self.scratch / "journal"
        journal.write_text("x\n")
        self.assert_refused(1, "is not a journal of searches. Name another file, or remove this one.", *DROPS,
                            "--journal", journal)
        self.assertEqual(journal.read_text(), "x\n")
        self.assert_refused(1, "is not a journal of searches", *DROPS, "--journal", "/dev/zero")


if __name__ == "__main__":
    unittest.main()
