#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Tests the examples in C: an interpreter, and versions of a document in tiles.

usage: c_test.py INTERPRETER VERSIONS SCRIPT"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import programs

VERSIONS, SCRIPT = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))


def printed(*lines, arguments=()):
    done = programs.run(*arguments, input="\n".join(lines) + "\n")
    assert done.returncode == 0, done.stderr
    return done.stdout


class Interpreter(programs.Test):
    def test_script_copies_only_in_lines_that_write_shared_vectors(self):
        done = programs.run("--trace", SCRIPT)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.replace(str(SCRIPT), "script"), """\
script:8: copied 8000000 bytes (shared)
weights[7] = 0.5
weights[7] = 0
script:14: copied 8000000 bytes (shared)
script:15: copied 8000000 bytes (shared)
parameters[7] = 2
sum of weights = 2
24000000 bytes copied
""")

    def test_undo_restores_values_names_and_aliases(self):
        self.assertEqual(printed("new a 2", "alias b a", "branch", "new c 3", "set a 0 1", "new b 1", "branch", "undo",
                                 "print a 0", "undo", "print a 0", "set a 1 5", "print b 1", "sum a"),
                         "a[0] = 1\na[0] = 0\nb[1] = 5\nsum of a = 5\n")

    def test_kept_branch_retains_the_changes(self):
        self.assertEqual(printed("new a 2", "branch", "set a 0 1", "keep", "print a 0"), "a[0] = 1\n")

    def test_copies_are_independent_and_copied_once(self):
        self.assertEqual(printed("new a 1000", "copy b a", "set b 1 2", "scale b 3", "add a b", "print a 1", "print b 1",
                                 "stats"), "a[1] = 6\nb[1] = 6\n8000 bytes copied\n")

    def test_vector_is_added_to_itself(self):
        self.assertEqual(printed("new a 1", "set a 0 2", "copy b a", "add b a", "add a a", "print b 0", "print a 0"),
                         "b[0] = 4\na[0] = 4\n")

    def test_wrong_lines_are_refused_and_named(self):
        begin = ["new a 3", "# a comment", ""]
        for line, said in [("print b 0", "unknown variable 'b'"), ("fly a", "unknown statement 'fly'"),
                           ("set a 3 1", "index 3 is out of range: a has 3 elements"),
                           ("set a -1 1", "index -1 is out of range"), ("set a 0.5 1", "index 0.5 is out of range"),
                           ("set a x 1", "'x' is not a number"), ("set a 1", "set takes 3 words"),
                           ("set a 1 2 3 4 5", "set takes 3 words"), ("new b 0", "1 to 100000000 elements, not 0"),
                           ("new b 1e9", "not 1e9"), ("new b 2.5", "not 2.5"),
                           ("new abcdefghijklmnop 1", "name 'abcdefghijklmnop' is too long"),
                           ("undo", "no branch is left"), ("keep", "no branch is left"),
                           ("x" * 300, "line is too long")]:
            self.assert_refused(1, f"<stdin>:4: ", input="\n".join([*begin, line, ""]))
            self.assert_refused(1, said, input="\n".join([*begin, line, ""]))
        self.assert_refused(1, "a has 3 elements and b has 2", input="new a 3\nnew b 2\nadd a b\n")
        self.assert_refused(1, "too many branches", input="branch\n" * 65)
        self.assert_refused(1, "too many variables", input="".join(f"new v{i} 1\n" for i in range(33)))

    def test_wrong_arguments_are_refused(self):
        self.assert_refused(2, "unknown argument '--nonsense'", "--nonsense")
        self.assert_refused(2, "unknown argument", SCRIPT, SCRIPT)
        self.assert_refused(1, "cannot read /no/such: No such file", "/no/such")
        self.assert_refused(1, "cannot read the next line: Is a directory", SCRIPT.parent)

    def test_help_lists_all_statements(self):
        done = programs.run("--help")
        self.assertEqual(done.returncode, 0)
        for name in ("new", "copy", "alias", "set", "add", "scale", "print", "sum", "branch", "undo", "keep", "stats"):
            self.assertIn(f"\n  {name}", done.stdout)


class Versions(programs.Test):
    def setUp(self):
        super().setUp()
        self.addCleanup(setattr, programs, "PROGRAM", programs.PROGRAM)
        programs.PROGRAM = VERSIONS

    def test_versions_share_the_tiles_that_were_not_written(self):
        self.assertEqual(programs.run().stdout,
                         "20 versions of 16384 KiB: 1280 KiB copied, 326400 KiB shared\n")
        self.assertEqual(programs.run("--versions", 3, "--kibibytes", 64).stdout,
                         "3 versions of 64 KiB: 192 KiB copied, 0 KiB shared\n")

    def test_wrong_arguments_are_refused(self):
        for value in ("0", "1001", "-1", "1e3", "many", "", "99999999999999999999"):
            self.assert_refused(2, f"--versions takes a whole number from 1 to 1000, not '{value}'", "--versions", value)
        self.assert_refused(2, "--kibibytes takes a whole number from 64", "--kibibytes")
        self.assert_refused(2, "unknown argument 'stray'", "stray")

    def test_help_lists_all_options(self):
        done = programs.run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--versions N", done.stdout)
        self.assertIn("--kibibytes N", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
