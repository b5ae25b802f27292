# SPDX-License-Identifier: BSL-1.0
"""The mixed workload finds what is wrong with a design, and says all that is needed to look into it:
wrong_designs_test.py STRESS_WRONG_DESIGNS."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/support"))
from programs import run


class WrongDesigns(unittest.TestCase):
    def found(self, name, seed):
        """What is said when it is found, by a check or by an assertion of the library's."""
        for _ in range(5):
            ended = run(name, seed, timeout=None)
            said = ended.stdout + ended.stderr
            # What is wrong may have written over the heap that a report needs, and so end it before a word.
            if said or ended.returncode >= 0:
                break
        self.assertNotIn(ended.returncode, (0, 2), (name, said))
        self.assertRegex(said, r"  FAILED:\n    \S|ended by signal|some thread hangs")
        self.assertIn(f"again: byre-stress --workload mixed --seed {seed} --threads 4", said)
        self.assertRegex(said, r"thread \d #\d+ \w+, slot \d+, .*: (done|threw|under way)")
        return ended

    def test_a_mark_that_stays_after_a_wait_is_found_by_the_checks(self):
        ended = self.found("stays_waiting", "1")  # nothing is ever released too soon
        self.assertEqual(ended.returncode, 1, ended)
        self.assertRegex(ended.stdout + ended.stderr, "FAILED|some thread hangs")

    def test_a_lock_that_is_gone_is_found(self):
        self.found("count_then_lock", "1")

    def test_drops_in_two_steps_are_found(self):
        self.found("drops_in_two_steps", "1")

    def test_claims_in_two_steps_are_found(self):
        self.found("claims_in_two_steps", "1")


if __name__ == "__main__":
    unittest.main()
