# SPDX-License-Identifier: BSL-1.0
"""byre-verify replays what fails, refuses what makes no sense, and goes on where a run was broken off:
runner_test.py BYRE_VERIFY."""
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
# What a reduced search leaves out by design: see verification/relacy/sleep_sets.hpp.
LEFT_OUT = {
    "litmus.spurious_failure",  # a compare-exchange that fails spuriously
    "litmus.blind.freed_header",  # either order of two accesses that no checker watches
}
# Every search ends by this, after all that it says.
ENDS_BADLY = "#include <signal.h>\nvoid _exit(int status) { for (;;) raise(SIGKILL); }"


def run(*arguments, env=None):
    return programs.run(*arguments, env=env, timeout=None)


def replay_string(*arguments):
    return run(*arguments).stdout.split("--replay '")[1].split("'")[0]


class Runner(programs.Test):
    def refuses(self, said, *arguments):
        ended = run(*arguments)
        self.assertEqual(ended.returncode, 2, ended)
        self.assertIn(said, ended.stderr)

    def test_names_that_do_not_exist_are_refused(self):
        self.refuses("there is no scenario 'x'", "--scenario", "x")
        self.refuses("there is no mutant 'x'", "--mutant", "x")
        self.refuses("fails as it should", *WRONG, "--mutant", "share_word.park:left-out")
        self.refuses("a small program is of two threads", "--scenario", "drop; read | read")
        self.refuses("a bound, if not 'full' or 'reduced', takes a whole number", "--bound=-1")
        self.refuses("--mutants does not take --scenario", "--mutants", *WRONG)

    def test_a_failure_is_replayed_step_by_step(self):
        good = replay_string(*WRONG)
        ended = run("--replay", good)
        self.assertEqual(ended.returncode, 0, ended)
        self.assertIn("use after free", ended.stdout)
        self.assertIn("count_then_lock.lock_copy", ended.stdout)
        self.refuses("malformed replay string: it is scenario/mutant/bound/state", "--replay", "x")
        self.refuses("malformed replay string: its state is cut off", "--replay", good[:-1])
        self.refuses("stale replay string: ", "--replay", good[:-3])
        self.refuses("stale replay string: ", "--replay", good.replace(WRONG[1], DROPS[1]))

    def test_the_failing_one_of_many_programs_is_replayed(self):
        replay = replay_string("--scenario", "programs.two_operations", "--mutant",
                               "share_word.wake_after_copy:left-out")
        self.assertTrue(replay.startswith("write | write/"), replay)
        self.assertIn("share_word.park", run("--replay", replay).stdout)

    def test_a_mutant_that_survives_is_an_error(self):
        self.assertEqual(run(*DROPS, "--mutant", "share_word.drop_owner:acquire").returncode, 0)
        survived = run(*DROPS, "--mutant", "share_word.park:left-out")
        self.assertEqual(survived.returncode, 1, survived)
        self.assertIn(": survived", survived.stdout)

    def test_a_pass_that_ends_badly_is_none(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("there is no cc")
        library = self.scratch / "ends_badly.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", library],
                       input=ENDS_BADLY, text=True, check=True)
        for scenario, said in ((DROPS, "FAILED: checker error"), (WRONG, "use after free, as it should")):
            ended = run(*scenario, env={**os.environ, "LD_PRELOAD": str(library)})
            self.assertIn(said, ended.stdout)
            self.assertEqual(ended.returncode, scenario != WRONG, ended)

    def test_every_small_program_is_searched_once(self):
        figures = self.scratch / "figures.json"
        run("--deep", "--executions", "1", "--json", figures,
            *(word for family in ("four", "three", "two")
              for word in ("--scenario", f"programs.{family}_operations")))
        rows = json.loads(figures.read_text())
        # Nothing, one of 7 operations, or one of 6 and then one of 7: nothing follows a drop.
        threads = 1 + 7 + 6 * 7
        self.assertEqual(sum(row["programs"] + len(row["cut_short"]) for row in rows), threads * (threads + 1) // 2)

    def test_a_reduced_search_sees_what_a_full_one_sees(self):
        names = re.findall(r"^(litmus\.[\w.]+):", run("--list").stdout, re.MULTILINE)
        self.assertGreater(len(names), 50)
        figures = self.scratch / "figures.json"
        run("--bound", "reduced", "--json", figures, *(word for name in names for word in ("--scenario", name)))
        ends_otherwise = {row["scenario"] for row in json.loads(figures.read_text()) if not row["as_expected"]}
        self.assertEqual(ends_otherwise, LEFT_OUT)

    def test_a_run_that_was_broken_off_goes_on(self):
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
        # A search of another build is run again, and so is one that was broken off.
        whole = journal.read_text()
        journal.write_text(whole.replace('"program":"', '"program":"1'))
        self.assertEqual(search(*DROPS), 1)
        journal.write_text(whole[:whole.index("}\n")])
        self.assertEqual(search(*DROPS), 1)
        self.assertEqual(search(*DROPS), 0)

    def test_another_file_is_no_journal(self):
        journal = self.scratch / "journal"
        journal.write_text("x\n")
        self.assert_refused(1, "is no journal of searches: name another file, or remove it", *DROPS,
                            "--journal", journal)
        self.assertEqual(journal.read_text(), "x\n")
        self.assert_refused(1, "is no journal of searches", *DROPS, "--journal", "/dev/zero")


if __name__ == "__main__":
    unittest.main()
