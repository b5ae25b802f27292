# SPDX-License-Identifier: BSL-1.0
"""Environment variables for modes and reports, passed to a program: environment_test.py PROGRAM."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "support"))
from built_program import command

MODES = ["alias", "warn", "error", "copy"]
PROGRAM = sys.argv.pop()


def ran(*commands, **variables):
    """Runs PROGRAM with BYRE_RESHAPE and BYRE_RESHAPE_NAME set to the variables RESHAPE and NAME."""
    environment = {name: value for name, value in os.environ.items() if "BYRE_RESHAPE" not in name}
    for name, value in variables.items():
        environment["BYRE_RESHAPE" + ("" if name == "RESHAPE" else "_" + name)] = str(value)
    return subprocess.run([*command(PROGRAM), *commands], env=environment, capture_output=True, text=True, check=True)


def printed(*commands, **variables):
    return ran(*commands, **variables).stdout.splitlines()


TRACKS, DOES_NOT = ["tracks", "active"], ["does not track", "inactive"]
ALL = ["mode", "mode", "default", "error", "mode", "scope", "alias", "mode", "end", "mode", "default", "none", "mode"]
READ_ONCE = ["tracks", "set", "BYRE_RESHAPE", "warn", "mode", "tracks"]
# Commands, the value of BYRE_RESHAPE, and the expected output.
CASES = [
    # The environment's mode is used if there is neither a scope nor a default.
    *((ALL, mode, [mode, mode, "error", "alias", "error", mode]) for mode in MODES),
    *((ALL, nothing, ["copy", "copy", "error", "alias", "error", "copy"]) for nothing in (None, "")),
    # Whether the environment's mode tracks is known before the program first needs the mode.
    *((["tracks", "mode", "tracks"], mode, [*TRACKS, mode, *TRACKS]) for mode in ("warn", "error")),
    *((["tracks", "mode", "tracks"], mode, [*DOES_NOT, mode, *DOES_NOT]) for mode in ("alias", "copy")),
    # If the program selects the mode copy, nothing is tracked.
    (["scope", "copy", "tracks"], None, DOES_NOT),
    (["scope", "copy", "tracks"], "warn", ["does not track", "active"]),
    *((["default", "copy", "tracks"], mode, DOES_NOT) for mode in (None, "warn")),
    # The environment is read once, unless its value was wrong.
    (READ_ONCE, None, [*DOES_NOT, "copy", *DOES_NOT]),
    (READ_ONCE, "wrong", [*DOES_NOT, "warn", *TRACKS]),
]


class Modes(unittest.TestCase):
    def test_environment_sets_the_mode_and_whether_it_tracks(self):
        for commands, mode, expected in CASES:
            with self.subTest(commands=commands, mode=mode):
                self.assertEqual(printed(*commands, **({} if mode is None else {"RESHAPE": mode})), expected)

    def test_unknown_mode_is_an_error_at_each_use(self):
        for unknown in "Warn", "warn,error", "1", "alias ":
            first, again, *with_default, last = printed(*ALL, RESHAPE=unknown)
            self.assertEqual([again, last], [first, first])
            self.assertEqual(with_default, ["error", "alias", "error"])
            self.assertIn(f'BYRE_RESHAPE in the environment is "{unknown}"', first)
            for mode in MODES:
                self.assertRegex(first, rf"allowed are .*\b{mode}\b")
        self.assertLess(len(printed("mode", RESHAPE="x" * 10000)[0]), 400)


class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def summary_of(self, *commands):
        path = self.folder / "all.json"
        ran(*commands, SUMMARY=path)
        return json.loads(path.read_text())

    def complaint_about(self, **variables):
        first, second = printed("reshape", "reshape", **variables)
        self.assertEqual(first, second)
        return first

    def test_without_variables_reports_are_warnings(self):
        stderr = ran("violate", SUMMARY="", SUPPRESSIONS="").stderr
        self.assertTrue(stderr.startswith("byre: warning: this code relies on reshape"))
        self.assertNotIn("were tracked", stderr)
        for asked in {}, {"SUMMARY": ""}:
            self.assertEqual(ran(**asked).stderr, "")

    def test_summary_is_written_to_stderr_and_to_a_text_file(self):
        self.assertIn("\nbyre: reshape: 1 reshape was tracked; 1 access", ran("violate", SUMMARY="stderr").stderr)
        ran("violate", SUMMARY=self.folder / "all.txt")
        self.assertIn("\n1. this code relies", (self.folder / "all.txt").read_text())

    def test_summary_in_json_is_written_even_if_nothing_was_tracked(self):
        self.assertEqual(self.summary_of("violate")["triples"][0]["access"]["line"], 12)
        self.assertEqual(
            self.summary_of(),
            {"reshapes": 0, "violations": 0, "suppressed": 0, "untracked_escapes": 0,
             "first_escape": {"file": "?", "line": 0}, "triples": []},
        )

    def test_summary_includes_violations_while_statics_are_destroyed(self):
        self.assertEqual(self.summary_of("reshape", "late")["violations"], 1)

    def test_each_process_writes_its_own_summary_file(self):
        for _ in range(2):
            ran("violate", SUMMARY=self.folder / "of-%p.json")
        summaries = list(self.folder.glob("of-*.json"))
        self.assertEqual(len(summaries), 2)
        for summary in summaries:
            self.assertRegex(summary.name, r"^of-\d+\.json$")
            self.assertEqual(json.loads(summary.read_text())["violations"], 1)

    def test_summary_that_cannot_be_written_causes_a_warning(self):
        stderr = ran("violate", SUMMARY="/nowhere/all.json").stderr
        self.assertIn("byre: warning: the summary of reshapes was not written: ", stderr)
        self.assertIn("/nowhere/all.json", stderr)

    def test_summary_file_with_an_unsupported_ending_is_rejected(self):
        self.assertIn('"all.xml" (BYRE_RESHAPE_SUMMARY', self.complaint_about(SUMMARY="all.xml"))
        self.assertIn('was not written: reshape: cannot write a summary to "all.xml"', ran(SUMMARY="all.xml").stderr)

    def test_suppression_file_suppresses_the_call_sites_in_it(self):
        path = self.folder / "known.txt"
        path.write_text("program.cpp:11\n")
        stderr = ran("violate", SUMMARY="stderr", SUPPRESSIONS=path).stderr
        self.assertNotIn("warning", stderr)
        self.assertIn("1 more was suppressed", stderr)

    def test_malformed_or_missing_suppression_file_is_rejected(self):
        path = self.folder / "known.txt"
        path.write_text("# all\nprogram.cpp:first\n")
        self.assertIn(f"{path}:2: ", self.complaint_about(SUPPRESSIONS=path))
        self.assertIn("/nowhere/known.txt", self.complaint_about(SUPPRESSIONS="/nowhere/known.txt"))

    def test_environment_is_read_again_only_until_it_is_valid(self):
        name, path = "BYRE_RESHAPE_SUMMARY", str(self.folder / "all.txt")
        first, second = printed("reshape", "set", name, path, "reshape", SUMMARY="all.xml")
        self.assertIn('"all.xml"', first)
        self.assertEqual(second, "reshaped")
        self.assertEqual(printed("reshape", "set", name, "all.xml", "reshape", SUMMARY=path), ["reshaped"] * 2)


unittest.main()
