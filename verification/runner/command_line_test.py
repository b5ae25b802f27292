# SPDX-License-Identifier: BSL-1.0
"""What byre-verify says to a command line that makes no sense, and that a failure can be replayed:
command_line_test.py BYRE_VERIFY."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/support"))
import programs

KNOWN_WRONG = "known_wrong.count_then_lock_drops"


# Every search ends by this, after all that it says.
ENDS_BADLY = "#include <signal.h>\nvoid _exit(int status) { for (;;) raise(SIGKILL); }"


def run(*arguments, env=None):
    return programs.run(*arguments, env=env, timeout=None)


def replay_string():
    text = run("--scenario", KNOWN_WRONG).stdout
    return text.split("--replay '")[1].split("'")[0]


class CommandLine(programs.Test):
    def refuses(self, said, *arguments):
        ended = run(*arguments)
        self.assertEqual(ended.returncode, 2, ended)
        self.assertIn(said, ended.stderr)

    def test_unknown_names_are_refused(self):
        self.refuses("there is no scenario 'x'", "--scenario", "x")
        self.refuses("there is no mutant 'x'", "--mutant", "x")
        self.refuses("unrecognised option '--x'", "--x")
        self.refuses("there is no mutant", "--mutant", "share_word.load_state:after-claim_copy")

    def test_only_steps_that_follow_each_other_are_swapped(self):
        swaps = "the swaps there are: share_lock.abandon_copy:after-unlock_abandon, "
        self.refuses("share_lock.drop_user never follows share_lock.add_user within one operation; "
                     + swaps, "--mutant", "share_lock.add_user:after-drop_user")
        self.refuses("the first step may be the last of its operation",
                     "--mutant", "share_lock.unlock_steal:after-lock_copy")
        swap = "share_lock.drop_owner:after-drop_user"
        self.assertIn(f"  {swap}\n", run("--list").stdout)
        killed = run("--scenario", "locked_reads_race_a_steal", "--mutant", swap)
        self.assertIn("the mutant was killed by 1 search\n", killed.stdout)

    def test_a_document_is_checked_where_one_is_printed(self):
        self.refuses("--check goes with --memory-orders or --mutants", "--check", "x")

    def test_an_empty_value_is_none(self):
        for option in ("--json", "--replay", "--scenario", "--program", "--mutant", "--jobs"):
            self.refuses(f"{option} takes a value", option, "")
        self.refuses("--check takes a value", "--mutants", "--check", "")

    def test_one_thing_is_done_at_a_time(self):
        self.refuses("either --list or --mutants, not both", "--mutants", "--list")
        self.refuses("either --memory-orders or --replay, not both", "--replay", "x",
                     "--memory-orders")
        self.refuses("option '--bound' cannot be specified more than once", "--bound", "1", "--bound", "2")

    def test_options_that_change_nothing_are_refused(self):
        self.refuses("--list does not take --deep", "--list", "--deep")
        self.refuses("--list-programs does not take --json", "--list-programs", "--json", "x")
        self.refuses("--mutants does not take --scenario", "--mutants", "--scenario", KNOWN_WRONG)
        self.refuses("--memory-orders does not take --deep", "--memory-orders", "--deep")
        self.refuses("--replay does not take --bound", "--replay", "x", "--bound", "2")

    def test_a_mutant_needs_a_scenario_that_passes_without_it(self):
        self.refuses(f"{KNOWN_WRONG} fails as it should", "--scenario", KNOWN_WRONG,
                     "--mutant", "share_word.park:left-out")

    def test_bad_numbers_are_refused(self):
        self.refuses("--jobs takes a whole number from 1 to ", "--jobs", "0")
        self.refuses("a bound, if not 'full' or 'reduced', takes a whole number", "--bound=-1")
        self.refuses("the required argument for option '--bound' is missing", "--bound")

    def test_a_failure_is_replayed_step_by_step(self):
        ended = run("--replay", replay_string())
        self.assertEqual(ended.returncode, 0, ended)
        self.assertIn("use after free", ended.stdout)
        self.assertIn("count_then_lock.lock_copy", ended.stdout)

    def test_a_malformed_replay_string_is_refused(self):
        good = replay_string()
        state = good.split("/")[3]
        malformed = "malformed replay string: "
        self.refuses(malformed + "it is scenario/mutant/bound/state, and 'x' has 1 part; give all",
                     "--replay", "x")
        self.refuses(malformed + "its state is cut off: choices of three characters each, and "
                     f"{len(state) - 1} characters; give all", "--replay", good[:-1])
        self.refuses(malformed + "its state is cut off", "--replay", good[:-len(state)])
        self.refuses(malformed + f"choice {len(state) // 3} of its state takes way 35 of 2",
                     "--replay", good[:-3] + "2zt")
        self.refuses(malformed + "its state has a '!', where one of '0123456789", "--replay",
                     good[:-3] + "!0t")
        self.refuses(malformed + "its state has a 'x', where one of 'tlcmu' is due", "--replay",
                     good[:-3] + "20x")

    def test_a_replay_string_of_another_program_is_refused(self):
        good = replay_string()
        another = "the replay string is not of this program: "
        self.refuses(another + "there is no scenario 'x", "--replay", "x" + good)
        self.refuses(another + "there is no mutant 'x'", "--replay", good.replace("/none/", "/x/"))
        self.refuses(another + "a bound, if not 'full' or 'reduced', takes a whole number", "--replay",
                     "/".join([*good.split("/")[:2], "x", good.split("/")[3]]))

    def test_a_stale_replay_string_is_refused(self):
        good = replay_string()
        anew = f"look for the failure anew: byre-verify --scenario '{KNOWN_WRONG}' --bound "
        self.refuses("stale replay string: ", "--replay", good[:-3])
        self.refuses(anew, "--replay", good[:-3])
        passes = good.replace(KNOWN_WRONG, "drops_race_drops")
        self.refuses("the execution that it asks for does not fail", "--replay", passes)
        foreign = good.split("/")
        foreign[3] = "30t" + foreign[3]
        self.refuses("stale replay string: ", "--replay", "/".join(foreign))

    def test_every_small_program_is_listed_once(self):
        family, found = None, {}
        for line in run("--list-programs").stdout.splitlines():
            if line.startswith("  "):
                found[family].append(line.strip())
            else:
                family, count = line.removesuffix(" programs").split(": ")
                found[family] = []
        # Nothing, one of 7 operations, or one of 6 and then one of 7: nothing follows a drop.
        threads = 1 + 7 + 6 * 7
        programs = [program for family in ("four", "three", "two")
                    for program in found[f"programs.{family}_operations"]]
        self.assertEqual(len(programs), threads * (threads + 1) // 2)
        self.assertEqual(len({frozenset(program.split(" | ")) for program in programs}),
                         len(programs), "threads that change places are the same program")
        self.assertEqual(len(found["programs.three_threads"]), 7 * 8 * 9 // 6)

    def test_one_program_is_run_by_itself(self):
        ended = run("--program", "write;drop|clone-write")
        self.assertEqual(ended.returncode, 0, ended)
        self.assertRegex(ended.stdout, r"write; drop \| clone-write +full .* pass")

    def test_a_program_that_makes_no_sense_is_refused(self):
        self.refuses("there is no operation 'writ'", "--program", "writ | read")
        self.refuses("nothing follows a drop", "--program", "drop; read | read")
        self.refuses("at most 2 operations", "--program", "read; read; read | read")
        self.refuses("2 or 3 threads", "--program", "read")

    def test_the_failing_one_of_many_programs_is_replayed(self):
        mutant = "share_word.wake_after_copy:left-out"
        ended = run("--scenario", "programs.two_operations", "--mutant", mutant)
        self.assertIn("deadlock: killed", ended.stdout)
        replay = ended.stdout.split("--replay '")[1].split("'")[0]
        self.assertTrue(replay.startswith("write | write/" + mutant), replay)
        self.assertIn("share_word.park", run("--replay", replay).stdout)

    def test_a_mutant_that_survives_is_an_error(self):
        arguments = ["--scenario", "drops_race_drops", "--mutant"]
        killed = run(*arguments, "share_word.drop_owner:acquire")
        self.assertEqual(killed.returncode, 0, killed)
        self.assertIn("the mutant was killed by 1 search\n", killed.stdout)
        survived = run(*arguments, "share_word.park:left-out")
        self.assertEqual(survived.returncode, 1, survived)
        self.assertIn("the mutant survived\n", survived.stdout)

    def test_what_is_one_is_said_as_one(self):
        ended = run("--scenario", "drops_race_drops", "--bound", "1")
        self.assertIn("pass within 1 preemption\n", ended.stdout)
        self.assertIn("\n1 search, ", ended.stdout)

    def test_a_pass_that_ends_badly_is_none(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("there is no cc")
        library = self.scratch / "ends_badly.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", library],
                       input=ENDS_BADLY, text=True, check=True)
        for scenario, said in (("drops_race_drops", "FAILED: checker error"),
                               (KNOWN_WRONG, "use after free, as it should")):
            ended = run("--scenario", scenario, env={**os.environ, "LD_PRELOAD": str(library)})
            self.assertIn(said, ended.stdout)
            self.assertEqual(ended.returncode, scenario != KNOWN_WRONG, ended)

    def test_a_search_cut_short_is_unknown(self):
        ended = run("--scenario", "locked_writers_race_writers", "--executions", "5")
        self.assertEqual(ended.returncode, 1, ended)
        self.assertIn("unknown", ended.stdout)

    def test_the_figures_are_written_as_json(self):
        file = self.scratch / "figures.json"
        self.assertEqual(run("--scenario", KNOWN_WRONG, "--json", file).returncode, 0)
        (row,) = json.loads(file.read_text())
        self.assertEqual(row["verdict"], "use after free")
        self.assertGreater(row["executions"], 0)

    def test_a_file_that_is_of_no_use_is_found_out_before_the_run(self):
        self.assert_refused(1, "cannot write the file \"/nonexistent/x\": No such file",
                            "--scenario", KNOWN_WRONG, "--json", "/nonexistent/x")
        self.assert_refused(1, "cannot read /nonexistent/x", "--mutants", "--check", "/nonexistent/x")

    def test_a_device_without_end_is_no_file_to_check(self):
        self.assert_refused(1, "cannot read /dev/zero as a file", "--memory-orders", "--check", "/dev/zero")


if __name__ == "__main__":
    unittest.main()
