#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What BYRE_RESHAPE in the environment says, and what comes before it.

usage: modes_of_the_environment_test.py PRINT_MODES
"""
import os
import subprocess
import sys
import unittest

MODES = ["alias", "warn", "error", "copy"]


def printed(said, *arguments):
    """The lines of PRINT_MODES where BYRE_RESHAPE says that, or where it is not set."""
    environment = {name: value for name, value in os.environ.items() if name != "BYRE_RESHAPE"}
    if said is not None:
        environment["BYRE_RESHAPE"] = said
    return subprocess.run([PRINT_MODES, *arguments], check=True, capture_output=True, text=True,
                          env=environment).stdout.splitlines()


class ModesOfTheEnvironment(unittest.TestCase):
    def test_a_mode_of_the_environment_comes_after_the_default_and_the_scope(self):
        for mode in MODES:
            self.assertEqual(printed(mode), [mode, mode, "error", "alias", "error", mode])

    def test_copy_is_in_force_where_the_environment_says_nothing(self):
        for nothing in None, "":
            self.assertEqual(printed(nothing), ["copy", "copy", "error", "alias", "error", "copy"])

    def test_an_unknown_mode_is_complained_of_each_time_it_would_be_in_force(self):
        for unknown in "Warn", "warn,error", "1", "alias ":
            first, again, *with_default, last = printed(unknown)
            self.assertEqual([again, last], [first, first])
            self.assertEqual(with_default, ["error", "alias", "error"])
            self.assertIn(f'BYRE_RESHAPE in the environment is "{unknown}"', first)
            for mode in MODES:
                self.assertRegex(first, rf"none of .*\b{mode}\b")

    def test_it_is_known_to_track_before_anybody_asks_for_the_mode(self):
        tracks, does_not = ["tracks", "a reason to"], ["does not track", "no reason to"]
        for mode in MODES:
            expected = tracks if mode in ("warn", "error") else does_not
            self.assertEqual(printed(mode, "early"), [*expected, mode, *expected])
        self.assertEqual(printed(None, "early"), [*does_not, "copy", *does_not])
        wrong = printed("wrong", "early")
        self.assertEqual(wrong[:2] + wrong[3:], does_not * 2)

    def test_where_it_is_quiet_who_says_to_copy_has_nothing_to_look_out_for(self):
        for where in "scope", "default":
            self.assertEqual(printed(None, where), ["does not track", "no reason to"])
        self.assertEqual(printed("warn", "scope"), ["does not track", "a reason to"])
        self.assertEqual(printed("warn", "default"), ["does not track", "no reason to"])

    def test_it_is_read_once_unless_it_was_wrong(self):
        for mode in MODES:
            self.assertEqual(printed(None, "early", mode),
                             ["does not track", "no reason to", "copy", "does not track", "no reason to"])
        self.assertEqual(printed("wrong", "early", "warn"),
                         ["does not track", "no reason to", "warn", "tracks", "a reason to"])

    def test_a_long_one_is_cut(self):
        self.assertLess(len(printed("x" * 10000)[0]), 400)


if __name__ == "__main__":
    PRINT_MODES = sys.argv.pop()
    unittest.main()
