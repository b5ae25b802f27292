# SPDX-License-Identifier: BSL-1.0
"""What classes.py and fragments.py say of pages that are wrong: classes_test.py ROOT"""
import pathlib
import sys
import unittest

import blocks
from classes import Checker
from commands import Commands, commands_of
from fragments import function

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
CHECKER = Checker(ROOT)
COMMANDS = Commands(ROOT)


def read(text, page="docs/page.md"):
    return list(blocks.read(text, page))


def complaints(text, page="docs/page.md"):
    return [said for block in read(text, page) for said in CHECKER.complaints(block)]


def fenced(language, text, comment=""):
    return f"{comment}\n```{language}\n{text}\n```\n"


class Classes(unittest.TestCase):
    def assert_said(self, said, found):
        self.assertTrue(any(said in each for each in found), found)

    def test_a_block_of_no_known_language_is_refused(self):
        self.assert_said("has no language", complaints(fenced("", "x")))
        self.assert_said("no test knows how to check rust", complaints(fenced("rust", "x")))

    def test_a_block_without_a_fence_is_refused_and_what_belongs_to_a_list_is_none(self):
        self.assert_said("is indented", complaints("Words:\n\n    some code\n"))
        self.assertEqual(read("- an entry\n\n    goes on\n"), [])
        self.assertEqual([block.text for block in read("- an entry\n\n    ```cpp\n    f();\n    ```\n")], ["f();\n"])

    def test_a_text_says_what_it_is(self):
        self.assertEqual(complaints(fenced("text", "x", "<!-- a drawing -->")), [])
        self.assert_said("is the output of no program", complaints(fenced("text", "x")))
        self.assert_said("is the output of no program",
                         complaints(fenced("text", "x", "<!-- a drawing -->\n<!-- measured -->")))
        self.assert_said("is no kind of text", complaints(fenced("text", "x", "<!-- a poem -->")))
        self.assert_said("does not look at `text`", complaints(fenced("text", "x", "<!-- check: EXPECT(true); -->")))

    def test_a_text_may_follow_its_program_and_no_fragment(self):
        self.assertEqual(complaints(fenced("cpp", "int main() {\n}") + "\nprints\n" + fenced("text", "x")), [])
        self.assert_said("is the output of no program", complaints(fenced("cpp", "f();") + fenced("text", "x")))

    def test_a_comment_is_of_a_block_that_takes_it(self):
        self.assert_said("sh takes no comment", complaints(fenced("sh", "./dev test", "<!-- with: int x; -->")))
        self.assert_said("cpp takes no comment", complaints(fenced("cpp", "f();", "<!-- measured -->")))

    def test_what_stands_in_a_file_is_there_and_the_file_is_of_a_test(self):
        page = "<!-- stands in: examples/functionalize/programs/worked_example.txt -->"
        self.assertEqual(complaints(fenced("text", "x = zeros(2)\nx1 = ...(1, 2)", page)), [])
        self.assert_said("does not stand in", complaints(fenced("text", "x = ones(2)", page)))
        self.assert_said("there is no", complaints(fenced("text", "x", "<!-- stands in: nowhere.cpp -->")))
        self.assert_said("no test has", complaints(fenced("text", "# Fuzzing", "<!-- stands in: docs/fuzzing.md -->")))

    def test_json_parses_and_has_keys_that_a_program_writes(self):
        self.assertEqual(complaints(fenced("json", '{"seed": [{"threads": 2}]}')), [])
        self.assert_said("is no JSON", complaints(fenced("json", "{")))
        self.assert_said("writes the key no_such_key", complaints(fenced("json", '[{"no_such_key": 1}]')))

    def test_python_is_a_session(self):
        self.assert_said("is no session", complaints(fenced("python", "import byre")))

    def test_what_a_build_reads_is_in_the_readme_alone(self):
        self.assertEqual(complaints(fenced("cmake", "x"), "README.md"), [])
        self.assert_said("README.md alone", complaints(fenced("cmake", "x")))
        self.assert_said("takes v77.0.1, and this is", complaints(fenced("ini", "revision = v77.0.1"), "README.md"))

    def test_a_block_without_an_end_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "has no end"):
            read("```cpp\nf();\n")


class OfCommands(unittest.TestCase):
    def test_those_that_there_are_pass(self):
        for command in ("./dev fuzz tiles --seconds 60   # one of them", "BYRE_SEED=1 ./dev test --suite quick",
                        "byre-stress --workload mixed [--seed N]", "build/stress/byre-stress --soak",
                        "./dev cross aarch64", "meson setup build -Dchecks=enabled && meson test -C build --suite docs",
                        "verification/smt/run.py TABLES --keep FOLDER", "apt-get install python3-numpy",
                        "./dev verify --list", "objdump -d x |\n  grep 'a b'"):
            self.assertEqual(list(COMMANDS.complaints(command)), [], command)

    def test_those_that_there_are_not_are_found(self):
        for command, said in {
            "./dev polish": "./dev help has no polish",
            "./dev stress --no-such-option": "has no option --no-such-option",
            "./dev verify --lists": "has no option --lists",
            "./dev soak --seconds-of-it 3": "has no option",
            "byre-stress --workload no_such_load": "no workload no_such_load",
            "./dev fuzz no_such_target": "no fuzz target",
            "./dev cross vax": "no machine vax",
            "./dev build bench/no-such-program": "nothing builds",
            "./dev test --suite no_such_suite": "no suite no_such_suite",
            "meson test -C build no_such_test": "no test no_such_test",
            "meson setup build -Dno_such=1": "has no no_such",
            "BYRE_NO_SUCH=1 ./dev test": "nothing reads BYRE_NO_SUCH",
            "build/stress/no-such-program": "nothing builds",
            "verification/no_such.py": "there is no verification/no_such.py",
            "python3 bench/no_such.py": "there is no bench/no_such.py",
            "apt-get install no-such-package": "never installs the package no-such-package",
            "byre-polish": "no test knows the command byre-polish",
            "echo 'a": "unexpected EOF",
        }.items():
            found = list(COMMANDS.complaints(command))
            self.assertTrue(any(said in each for each in found), (command, found))

    def test_comments_and_lines_that_go_on_are_read_as_a_shell_does(self):
        self.assertEqual(list(commands_of("a b \\\n  c  # d\ne | f # g\n# h\ni")),
                         [["a", "b", "c"], ["e"], ["f"], ["i"]])


class Fragments(unittest.TestCase):
    def test_come_with_what_is_before_and_after_and_their_places(self):
        [block] = read("Words.\n\n<!-- with: int x = 1; -->\n<!-- check:\nEXPECT(x == 2);\n-->\n```cpp\nx = 2;\n```\n")
        self.assertEqual(function(7, block, None),
                         'namespace {\nvoid fragment_7() {\n#line 3 "docs/page.md"\nint x = 1;\n'
                         '#line 8 "docs/page.md"\nx = 2;\n'
                         '#line 5 "docs/page.md"\nEXPECT(x == 2);\n}\n}  // namespace\n')

    def test_a_comment_is_of_the_next_block_alone(self):
        [first, second] = read("<!-- with: int x = 1; -->\n```cpp\nf(x);\n```\n\n```cpp\ng();\n```\n")
        self.assertEqual((len(first.comments), second.comments), (1, []))
        for between in ("Words.\n", "\n"):
            [block] = read(f"<!-- with: int x = 1; -->\n{between}```cpp\nf(x);\n```\n")
            self.assertEqual(block.comments, [])

    def test_a_program_is_compared_with_the_text_after_it(self):
        program, text = read(fenced("cpp", "int main() {\n}") + "\nprints\n" + fenced("text", "1 2"))
        self.assertIn('EXPECT_LIKE(R"text(1 2\n)text"', function(0, program, text))
        self.assertIn("int program_0() {\nreturn 0;\n}", function(0, program, text))


if __name__ == "__main__":
    unittest.main()
