# SPDX-License-Identifier: BSL-1.0
"""Shared code of tests that run a program: they give it a folder for its files and check its errors. The program is the
first argument of the test script that imports this module."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from built_program import command

PROGRAM = sys.argv.pop(1)


def run(*arguments, **settings):
    """Runs the program, for at most two minutes, and returns the completed process with its output as text."""
    usual = {"capture_output": True, "text": True, "errors": "replace", "timeout": 120}
    return subprocess.run([*command(PROGRAM), *map(str, arguments)], **{**usual, **settings})


def figures_of(*arguments, **settings):
    """Runs the program with --json and returns the parsed output."""
    done = run(*arguments, "--json", **settings)
    if done.returncode != 0:
        raise AssertionError(done)
    return json.loads(done.stdout)


class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)

    def assert_refused(self, code, said, *arguments, **settings):
        done = run(*arguments, **settings)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(said, done.stderr)
        self.assertEqual(done.stdout, "")
