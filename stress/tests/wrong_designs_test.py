# SPDX-License-Identifier: BSL-1.0
"""The mixed workload finds what is wrong with a design, and says all that is needed to look into it:
wrong_designs_test.py STRESS_WRONG_DESIGNS."""
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)


class WrongDesigns(unittest.TestCase):
    def found(self, name, seed):
        """What is said when it is found, by a check or by an assertion of the library's."""
        ended = subprocess.run([PROGRAM, name, seed], capture_output=True, text=True)
        said = ended.stdout + ended.stderr
        self.assertNotIn(ended.returncode, (0, 2), (name, said))
        self.assertRegex(said, r"  FAILED:\n    \S|ended by signal|some thread hangs")
        self.assertIn(f"again: byre-stress --workload mixed --seed {seed} --threads 4", said)
        for thread in range(4):
            self.assertRegex(said, rf"thread {thread} #\d+ \w+, slot \d+, .*: (done|threw|under way)")
        return ended

    def test_steals_of_data_that_is_unique_already_are_found(self):
        ended = self.found("count_then_lock", "1")
        self.assertEqual(ended.returncode, 1, ended)
        self.assertIn("a write to data that nobody shared copied or stole it", ended.stdout)

    def test_a_mark_that_stays_after_a_wait_is_found(self):
        ended = self.found("stays_waiting", "1")
        self.assertEqual(ended.returncode, 1, ended)
        self.assertIn("a write left the data shared", ended.stdout)

    def test_drops_in_two_steps_are_found(self):
        self.found("drops_in_two_steps", "1")

    def test_claims_in_two_steps_are_found(self):
        self.found("claims_in_two_steps", "1")


if __name__ == "__main__":
    unittest.main()
