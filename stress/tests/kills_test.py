# SPDX-License-Identifier: BSL-1.0
"""Tests the command line of byre-kills, its figures, and that it detects faults: kills_test.py BYRE_KILLS."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/support"))
import unittest

from programs import Test, figures_of, run

NEVER_EFFECTIVE = {"none"}


class Kills(Test):
    def test_invalid_options_are_rejected(self):
        for said, *arguments in (
                ("--kills takes a whole number from 1 to", "--kills", "0"),
                ("--workers takes a whole number from 1 to 64, not '65'", "--workers", "65"),
                ("unknown fault 'x'", "--fault", "x")):
            self.assert_refused(2, said, *arguments)

    def test_a_run_reaches_all_steps(self):
        figures = figures_of("--kills", 200, "--seed", 7)
        self.assertEqual(figures["seed"], 7)
        self.assertGreaterEqual(figures["kills"], 200)
        self.assertEqual(sum(figures["killed_in"].values()), figures["kills"])
        self.assertGreater(figures["survivors"], 0)
        self.assertEqual({step for step, done in figures["done"].items() if done == 0}, NEVER_EFFECTIVE)

    def test_a_run_with_one_worker_ends(self):
        self.assertGreaterEqual(figures_of("--kills", 20, "--workers", 1, "--seed", 3)["kills"], 20)

    def assert_detected(self, fault, said, kills, *options):
        done = run("--kills", kills, "--seed", 5, "--fault", fault, *options)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(said, done.stderr)
        repeated = ["repeat: byre-kills --seed 5 --kills", str(kills), "--workers 8 --fault", fault, *options]
        self.assertIn(" ".join(repeated) + "\n", done.stderr)

    def test_an_owner_that_ignores_views_is_detected(self):
        self.assert_detected("blind_owner", "the sum of the hashes", 2000)

    def test_an_owner_that_misses_the_end_of_views_is_detected(self):
        self.assert_detected("deaf_owner", "views after all other processes have ended: 1, expected 0", 20)

    def test_a_write_behind_the_library_is_detected(self):
        self.assert_detected("written_view", "the sum of the hashes", 2000)

    def test_a_descriptor_that_a_process_keeps_is_detected(self):
        self.assert_detected("kept_descriptor", "views after all other processes have ended: 1, expected 0", 20)

    def test_a_value_that_a_survivor_keeps_is_detected(self):
        self.assert_detected("kept_value", "in step verify_last", 20)

    def test_a_descriptor_that_exec_keeps_is_detected(self):
        self.assert_detected("kept_by_exec", "descriptors of a fresh program", 500)

    def test_a_process_that_is_left_is_detected(self):
        self.assert_detected("left_process", "a child process is left", 5)

    def test_a_descriptor_that_is_left_is_detected(self):
        self.assert_detected("left_descriptor", " descriptors, before the run ", 5)

    def test_a_memory_file_that_is_left_mapped_is_detected(self):
        self.assert_detected("left_mapping", " mapped memory files, before the run ", 5)

    def test_shared_memory_that_is_left_is_detected(self):
        self.assert_detected("left_memory", "the shared memory of the machine has grown", 5, "--alone")


if __name__ == "__main__":
    unittest.main()
