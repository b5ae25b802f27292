#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs functionalize on its sample programs, on small ones of its own, and on what is no program. Test
names are sentences."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import programs

FOLDER = pathlib.Path(sys.argv.pop(1))
SAMPLES = sorted((FOLDER / "programs").glob("*.txt"))
BACKENDS = ("cpu", "graph")


class Test(programs.Test):
    def run_text(self, text, *arguments):
        path = self.scratch / "program.txt"
        path.write_text(text)
        return programs.run(path, *arguments)

    def figures_of(self, text):
        done = self.run_text(text, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def values_of(self, text):
        return {value["name"]: value["elements"] for value in self.figures_of(text)["values"]}


class Samples(Test):
    def test_all_compute_on_every_backend_what_aliasing_does(self):
        self.assertGreaterEqual(len(SAMPLES), 6)
        for sample in SAMPLES:
            values = []
            for backend in BACKENDS:
                for paths in ("chains", "strides", "by_backend"):
                    with self.subTest(sample=sample.name, backend=backend, paths=paths):
                        done = programs.run(sample, "--backend", backend, "--paths", paths, "--json")
                        self.assertEqual(done.returncode, 0, done.stderr)
                        figures = json.loads(done.stdout)
                        self.assertIs(figures["verified"], True)
                        self.assertIs(figures["graph"]["captured"]["is_functional"], True)
                        self.assertIs(figures["graph"]["simplified"]["is_functional"], True)
                        values.append(figures["values"])
            self.assertTrue(all(value == values[0] for value in values), sample.name)

    def test_all_have_views_and_writes_in_the_program_and_none_in_the_graph(self):
        for sample in SAMPLES:
            figures = json.loads(programs.run(sample, "--json").stdout)
            self.assertGreater(figures["program"]["views"], 0, sample.name)
            self.assertGreater(figures["program"]["writes"], 0, sample.name)
            self.assertNotRegex(figures["graph"]["captured"]["text"], r"= \w+_(\.\w+)?\(")

    def test_true_views_stay_where_views_are_reapplied(self):
        for sample in SAMPLES:
            for backend in ("cpu", "graph"):
                done = programs.run(sample, "--reapply-views=on", "--backend", backend)
                self.assertEqual(done.returncode, 0, sample.name + done.stderr)

    def test_without_the_pass_a_graph_refuses_all(self):
        for sample in SAMPLES:
            done = programs.run(sample, "--backend=graph", "--pass=off")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"^functionalize: {sample.name}:\d+:\d+: ")
            self.assertIn("graph", done.stderr)
            self.assertEqual(done.stdout, "")


class TheWorkedExample(Test):
    def setUp(self):
        super().setUp()
        self.path = FOLDER / "programs" / "worked_example.txt"

    def test_is_printed_as_the_readme_has_it(self):
        readme = (FOLDER / "README.md").read_text()
        self.assertIn(f"```\n{programs.run(self.path).stdout}```", readme)
        refused = programs.run(self.path, "--backend", "graph", "--pass", "off").stderr
        self.assertIn(f"```\n{refused}```", readme)

    def test_graphs_are_drawn(self):
        dot = self.scratch / "graph.dot"
        done = programs.run(self.path, "--dot", dot)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(dot.read_text().startswith("digraph {"))
        self.assertIn("select_scatter", dot.read_text())

    def test_json_goes_to_a_file_beside_the_table(self):
        path = self.scratch / "figures.json"
        self.assertIn("After the pass: 5", programs.run(self.path, "--json", path).stdout)
        self.assertEqual(json.loads(path.read_text())["graph"]["captured"]["operations"], 5)


class TheForm(Test):
    def test_ranges_and_positions_take_parts(self):
        values = self.values_of("x = arange(12).view(3, 4)\na = x[1]\nb = x[-1, 1]\nc = x[0:2, ::2]\n"
                           "d = x[:, 3]\ne = x[1:][0][2:]\n")
        self.assertEqual(values["a"], "[4 5 6 7]")
        self.assertEqual(values["b"], "9")
        self.assertEqual(values["c"], "[[0 2]\n [4 6]]")
        self.assertEqual(values["d"], "[ 3  7 11]")
        self.assertEqual(values["e"], "[6 7]")

    def test_a_range_of_all_is_a_view_and_not_the_same_tensor(self):
        values = self.values_of("x = zeros(2)\ny = x[:]\ny.unsqueeze_(0)\ny[:] = 1\n")
        self.assertEqual((values["x"], values["y"]), ("[1. 1.]", "[[1. 1.]]"))

    def test_overloads_are_told_by_what_is_given(self):
        values = self.values_of(
            "x = arange(4)\na = x.view(2, 2)\nb = x.view([2, -1])\nc = x.to(f32).view(i32)\n"
            "d = x + x\ne = x + 1\nf, g = x.split(2)\nh = x.split([1, 3])\ni = x.sum()\n"
            "j = a.sum(0)\nk = sum(a, axes=[1], keepdim=true)\nl = full([2], 1.5, dtype=f64)\n"
            "m = zeros(1, 2, i8)\nn = 2 * x\no = add(a=x, b=-1)\n")
        self.assertEqual(values["a"], values["b"])
        self.assertEqual(values["d"], "[0 2 4 6]")
        self.assertEqual(values["e"], "[1 2 3 4]")
        self.assertEqual((values["f"], values["g"]), ("[0 1]", "[2 3]"))
        self.assertEqual((values["h[0]"], values["h[1]"]), ("[0]", "[1 2 3]"))
        self.assertEqual((values["i"], values["j"], values["k"]), ("6", "[2 4]", "[[1]\n [5]]"))
        self.assertEqual((values["l"], values["m"]), ("[1.5 1.5]", "[[0 0]]"))
        self.assertEqual((values["n"], values["o"]), ("[0 2 4 6]", "[-1  0  1  2]"))

    def test_operators_bind_as_in_arithmetic(self):
        values = self.values_of("x = ones(1)\na = x + x * 2 - 3 / 2 * x\n".replace("3 / 2 * x", "x / 2")
                           + "b = (x + x) * 2\nc = -x - -1\nd = x - 1 - 1\n")
        self.assertEqual([values[name] for name in "abcd"], ["[2.5]", "[4.]", "[0.]", "[-1.]"])

    def test_updates_write_and_assignments_name(self):
        values = self.values_of("x = zeros(3)\ny = x\nx += 1\nx[1] *= 5\nx[0] -= x[1]\nz = x\n"
                           "x = x + 1\nx[2] /= 4\ny[2] = z[0]\n")
        self.assertEqual(values["z"], "[-4.  5. -4.]")
        self.assertEqual(values["y"], values["z"])
        self.assertEqual(values["x"], "[-3.   6.   0.5]")

    def test_lists_go_over_several_lines_and_comments_to_the_end_of_theirs(self):
        values = self.values_of("# nothing\n\nx = cat([ones(1),  # one\n  zeros(1),\n], \naxis=0)\n"
                           "out = zeros(2)\nadd(x, x, out=out)\n")
        self.assertEqual((values["x"], values["out"]), ("[1. 0.]", "[2. 0.]"))

    def test_names_may_be_those_of_operators_and_begin_like_constants(self):
        values = self.values_of("input = ones(1)\ninfo = input + 1\nview = info.view(1, 1)\nn = 2\n"
                           "y = zeros(n)\n")
        self.assertEqual(values, {"input": "[1.]", "info": "[2.]", "view": "[[2.]]", "y": "[0. 0.]"})

    def test_inputs_that_share_memory_are_one_input_of_the_graph(self):
        figures = self.figures_of("input x = zeros(4)\ninput y = x[1:3]\ninput z = ones(1)\ny += z\n")
        self.assertIn("graph(%0 x: f32[4], %1 z: f32[1])", figures["graph"]["captured"]["text"])
        self.assertIn("shares memory with %0", figures["program"]["text"])

    def test_what_is_not_used_is_no_operation_and_what_is_computed_twice_is_dropped(self):
        figures = self.figures_of("x = zeros(2)\na = x.view(1, 2)\na + 1\nb = x * 2\nc = x * 2\n")
        self.assertEqual(figures["graph"]["captured"]["operations"], 3)
        self.assertEqual(figures["graph"]["again"], 1)
        self.assertEqual(figures["graph"]["simplified"]["operations"], 2)

    def test_two_hundred_thousand_names_are_found_one_as_fast_as_the_other(self):
        """Where each costs as much as those before it, this takes minutes."""
        names = 200_000
        lines = ["input x = ones([2])"] + [f"v{number} = x" for number in range(names)]
        done = self.run_text("\n".join(lines), "--pass", "off")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"v{names - 1}: f32[2] = [1. 1.]", done.stdout)

    def test_an_empty_program_computes_nothing(self):
        self.assertEqual(self.figures_of("# nothing\n")["values"], [])


class WhatIsWrong(Test):
    """In a program: the line, the column, the text and a mark below it, and nothing on the output."""

    def assert_refused(self, text, line, column, said, *arguments):
        done = self.run_text(text, *arguments)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn(f"functionalize: program.txt:{line}:{column}: ", done.stderr)
        self.assertIn(said, done.stderr)
        shown, mark = re.search(r"\n  ([^\n]*)\n( *)\^\n$", done.stderr).groups()
        self.assertEqual(shown, text.splitlines()[line - 1])
        self.assertEqual(len(mark) - 2, column - 1)

    def test_syntax(self):
        self.assert_refused("x = zeros(2", 1, 12, "expected ',' or ')', found the end")
        self.assert_refused("x = zeros(2)\ny = x +\n", 2, 8, "found the end of the line")
        self.assert_refused("x = = 1", 1, 5, "expected a tensor, a number or a list, found '='")
        self.assert_refused("x.view = 1", 1, 8, "expected '('")
        self.assert_refused("zeros(2) = 1", 1, 1, "left of =")
        self.assert_refused("x = zeros(2) zeros(3)", 1, 14, "expected an operator or the end")
        self.assert_refused("x = zeros(2)\ny = x[]\n", 2, 6, "nothing stands between the brackets")
        self.assert_refused("zeros(2) += 1", 1, 1, "a name or a place")
        self.assert_refused("x = zeros(2)\ninput y = x\n", 2, 1, "inputs stand before all else")
        self.assert_refused("x = 99999999999999999999", 1, 5, "more than i64")

    def test_nesting_without_end(self):
        for opened in ("(", "-", "[", "f(", "x["):
            done = self.run_text("x = ones(1)\ny = " + opened * 100000)
            self.assertEqual(done.returncode, 1, opened)
            self.assertIn("too many parts", done.stderr)
        self.assertIn("too many parts", self.run_text("x = ones(1)" + ".neg()" * 100000).stderr)

    def test_what_may_nest_is_computed(self):
        for program in ("x = " + "(" * 98 + "ones(1)" + ")" * 98, "x = ones(1)" + ".neg()" * 999):
            done = self.run_text(program)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_names(self):
        self.assert_refused("x = zeros(2)\ny = x + z\n", 2, 9, "nothing is called 'z' yet")
        self.assert_refused("x = zeroes(2)", 1, 5, "zeros")
        self.assert_refused("x = zeros(2)\ny = x.fil_(1)\n", 2, 7, "fill_")
        self.assert_refused("x = zeros(2)\na, b = x", 2, 1, "2 names are given Tensor f32[2]")
        self.assert_refused("input x = zeros(2)\ninput x = zeros(2)", 2, 7, "already")
        self.assert_refused("input x = 1", 1, 7, "an input is a tensor, not int 1")

    def test_arguments(self):
        self.assert_refused("x = zeros(2)\ny = x.view(1, 2, true)\n", 2, 7, "no view takes")
        self.assert_refused("x = zeros(sizes=2.5)", 1, 5, "was given Scalar 2.5")
        self.assert_refused("x = zeros(2, colour=1)", 1, 21, "nothing is called 'colour' here")
        self.assert_refused("x = zeros(2)\nx.fill_()\n", 2, 3, "was not given 'value'")
        self.assert_refused("x = zeros(2)\nx.fill_(1, value=2)\n", 2, 3, "twice")
        self.assert_refused("x = zeros(2)\nx.zero_(1, 2)\n", 2, 3, "takes no further arguments")
        self.assert_refused("x = zeros(2)\ny = 1 - x\n", 2, 7, "no sub takes (int 1, Tensor f32[2])")
        self.assert_refused("x = [zeros(2), 1]", 1, 16, "a list is of integers or of tensors")
        self.assert_refused("x = zeros(2).unbind()\ny = x[2]\n", 2, 6, "the list has 2 tensors")

    def test_what_an_operator_refuses_while_the_program_runs(self):
        self.assert_refused("x = zeros(2)\n\ny = x.view(3)\n", 3, 7, "view")
        self.assert_refused("x = zeros(2)\nx[5].fill_(1)\n", 2, 2, "select")
        self.assert_refused("x = zeros(1).expand(3)\nx += 1\n", 2, 1, "expand", "--backend=graph")


class WrongUsage(Test):
    def test_unknown_choices_are_refused_with_those_there_are(self):
        path = SAMPLES[0]
        self.assert_refused(2, "cpu or graph", path, "--backend=gpu")
        self.assert_refused(2, "on or off", path, "--pass=maybe")
        self.assert_refused(2, "on or off", path, "--reapply-views=all")
        self.assert_refused(2, "chains, strides or by_backend", path, "--paths=none")

    def test_what_does_not_go_together_is_refused(self):
        self.assert_refused(2, "--pass off skips", SAMPLES[0], "--pass=off", "--dot", "x.dot")

    def test_no_program_and_two_are_refused(self):
        self.assert_refused(2, "name a program file")
        self.assert_refused(2, "Wrong usage", SAMPLES[0], SAMPLES[1])
        self.assert_refused(2, "--nonsense", SAMPLES[0], "--nonsense")

    def test_files_that_cannot_be_read_or_written_are_named(self):
        self.assert_refused(1, "/no/such/program", "/no/such/program")
        self.assert_refused(1, f"Cannot read {FOLDER}", FOLDER)
        self.assert_refused(1, "/no/such/graph.dot", SAMPLES[0], "--dot", "/no/such/graph.dot")

    def test_a_file_without_end_is_no_program(self):
        self.assert_refused(1, "/dev/zero is no program: it has more than 16 MiB.", "/dev/zero")

    def test_the_longest_program_is_read(self):
        path = self.scratch / "program"
        path.write_text("# long" + " " * ((16 << 20) - 6))
        self.assertEqual(programs.run(path).returncode, 0)
        path.write_text("# long" + " " * ((16 << 20) - 5))
        self.assert_refused(1, "is no program", path)

    def test_help_names_every_option(self):
        done = programs.run("--help")
        self.assertEqual(done.returncode, 0)
        for name in ("--backend", "--pass", "--reapply-views", "--paths", "--dot", "--json"):
            self.assertIn(name, done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
