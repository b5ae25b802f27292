# SPDX-License-Identifier: BSL-1.0
"""Tests the environment variable BYRE_TRACE: environment_test.py STATS PROGRAM. STATS is 1 if byre was built with stats,
else 0."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "support"))
from built_program import command

PROGRAM = os.path.abspath(sys.argv.pop())
HAS_STATS = sys.argv.pop() == "1"


class Environment(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_with(self, trace, *arguments, **settings):
        done = subprocess.run([*command(PROGRAM), *arguments], env={**os.environ, "BYRE_TRACE": str(trace)},
                              capture_output=True, text=True, **settings)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return done.stderr

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def take_lines(self):
        """The lines of the copies in each trace file, by file name. Removes the files."""
        lines = {}
        for name in self.files():
            events = json.loads((self.folder / name).read_text())["traceEvents"]
            lines[name] = [event["args"]["written_at"] for event in events if event["name"].startswith("copy")]
            (self.folder / name).unlink()
        return lines


@unittest.skipUnless(HAS_STATS, "built without stats")
class WithStats(Environment):
    def test_a_program_writes_its_trace_when_it_ends(self):
        for arguments, lines in ([], ["program.cpp:2"]), (["nothing"], []):
            self.assertEqual(self.run_with(self.folder / "a.json", *arguments), "")
            self.assertEqual(self.take_lines(), {"a.json": lines})

    def test_an_empty_variable_prints_nothing(self):
        self.assertEqual(self.run_with(""), "")

    def test_a_text_file_and_stderr_contain_the_summary(self):
        self.assertEqual(self.run_with(self.folder / "a.txt"), "")
        for text in (self.folder / "a.txt").read_text(), self.run_with("stderr"):
            self.assertRegex(text, r"byre: trace: 1 lazy clone of 100 bytes, 1 copy of 100 bytes")
            self.assertIn("1. 1 copy of 100 bytes (shared)\n  written at program.cpp:2\n  cloned at program.cpp:1\n", text)

    def test_an_unsupported_name_causes_a_warning_at_the_end(self):
        for name in "1", self.folder / "a.xml":
            self.assertIn("Use stderr, or a name that ends in .json or .txt", self.run_with(name))
        self.assertEqual(self.files(), [])

    def test_an_unwritable_file_causes_a_warning(self):
        said = self.run_with(self.folder / "none" / "a.json")
        self.assertIn("cannot write the trace that BYRE_TRACE requests", said)
        self.assertIn("none/a.json", said)

    def test_later_changes_of_variable_and_folder_are_ignored(self):
        for change in "unset", "folder":
            self.run_with("a.json", change, cwd=self.folder)
            self.assertEqual(self.take_lines(), {"a.json": ["program.cpp:2"]}, change)
        self.run_with("", "set", str(self.folder / "b.json"))
        self.assertEqual(self.files(), [])

    def test_a_forked_child_writes_a_file_only_if_the_name_has_pid(self):
        self.run_with(self.folder / "a.json", "fork")
        self.assertEqual(self.take_lines(), {"a.json": ["program.cpp:2"] * 2})
        self.run_with(self.folder / "a.json", "leave")
        self.assertEqual(self.files(), [])
        self.run_with(self.folder / "a.%p.json", "fork")
        lines = self.take_lines()
        for name in lines:
            self.assertRegex(name, r"^a\.\d+\.json$")
        self.assertEqual(sorted(map(len, lines.values())), [1, 2])

    def test_lost_events_cause_a_warning(self):
        self.assertRegex(self.run_with(self.folder / "a.txt", "many"), r"lacks \d+ events: the recording was full")


@unittest.skipIf(HAS_STATS, "built with stats")
class WithoutStats(Environment):
    def test_a_program_warns_that_it_cannot_record(self):
        self.assertIn("Configure it with -Dstats=enabled", self.run_with(self.folder / "a.json"))
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
