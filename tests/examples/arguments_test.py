#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Gives examples command lines that are wrong, and places for figures. The examples share the code that reads them."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import programs

SMALL = ["--layers=1", "--branches", "4", "--prefix-tokens=16", "--append-tokens=1"]
FUNCTIONALIZE = sys.argv.pop(1)


class Arguments(programs.Test):
    def test_that_are_wrong_are_refused_and_named(self):
        for arguments, said in ((["--nonsense"], "--nonsense"), (["--layer=5"], "--layer"), (["--layers"], "takes a value"),
                                (["stray"], "'stray'"), (["--help=1"], "takes no value"),
                                *((["--layers", value], "--layers takes a whole number from 1 to 256")
                                  for value in ("0", "257", "-1", "1e3", "many", "", "99999999999999999999999"))):
            self.assert_refused(2, said, *arguments)

    def test_are_named_by_help(self):
        done = programs.run("--help", "--branches=0")
        self.assertEqual(done.returncode, 0)
        for name in ("layers", "prefix-tokens", "branches", "append-tokens", "threads", "json"):
            self.assertIn(f"--{name} ", done.stdout)

    def test_send_figures_to_a_file_beside_the_table_or_in_its_place(self):
        path = self.scratch / "figures.json"
        self.assertIn("append to each", programs.run(*SMALL, "--json", path).stdout)
        for text in (path.read_text(), programs.run("--json", *SMALL).stdout):
            self.assertEqual(json.loads(text)["branches"]["branches that are left"], 4)
        self.assert_refused(1, "/no/such/figures.json", *SMALL, "--json", "/no/such/figures.json")

    def test_may_be_one_of_some_words(self):
        self.addCleanup(setattr, programs, "PROGRAM", programs.PROGRAM)
        programs.PROGRAM = FUNCTIONALIZE
        self.assert_refused(2, "--backend takes one of cpu, graph, not 'gpu'", "--backend=gpu")


if __name__ == "__main__":
    unittest.main(verbosity=2)
