#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Tests the command lines of the examples with invalid arguments and with --json. The examples share this code."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import programs

SMALL = ["--layers=1", "--branches", "4", "--prefix-tokens=16", "--append-tokens=1"]
FUNCTIONALIZE = sys.argv.pop(1)


class Arguments(programs.Test):
    def test_invalid_arguments_are_refused_and_named_in_the_error(self):
        for arguments, said in ((["--nonsense"], "--nonsense"), (["--layer=5"], "--layer"), (["--layers"], "takes a value"),
                                (["stray"], "'stray'"), (["--help=1"], "takes no value"),
                                *((["--layers", value], "--layers takes a whole number from 1 to 256")
                                  for value in ("0", "257", "-1", "1e3", "many", "", "99999999999999999999999"))):
            self.assert_refused(2, said, *arguments)

    def test_help_lists_all_options(self):
        done = programs.run("--help", "--branches=0")
        self.assertEqual(done.returncode, 0)
        for name in ("layers", "prefix-tokens", "branches", "append-tokens", "threads", "json"):
            self.assertIn(f"--{name} ", done.stdout)

    def test_json_is_written_to_a_file_or_replaces_the_table(self):
        path = self.scratch / "figures.json"
        self.assertIn("append to each", programs.run(*SMALL, "--json", path).stdout)
        for text in (path.read_text(), programs.run("--json", *SMALL).stdout):
            self.assertEqual(json.loads(text)["branches"]["remaining branches"], 4)
        self.assert_refused(1, "/no/such/figures.json", *SMALL, "--json", "/no/such/figures.json")

    def test_an_unsupported_option_value_is_refused(self):
        self.addCleanup(setattr, programs, "PROGRAM", programs.PROGRAM)
        programs.PROGRAM = FUNCTIONALIZE
        self.assert_refused(2, "--backend takes one of cpu, graph, not 'gpu'", "--backend=gpu")


if __name__ == "__main__":
    unittest.main(verbosity=2)
