#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs functionalize on its sample programs, on small ones of its own, and on wrong ones."""
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import programs

FOLDER = pathlib.Path(sys.argv.pop(1))
SAMPLES = sorted((FOLDER / "programs").glob("*.txt"))


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
        return self.figures_of(text)["values"]


class Samples(Test):
    def test_compute_on_every_backend_what_aliasing_does(self):
        self.assertGreaterEqual(len(SAMPLES), 8)
        for sample in SAMPLES:
            figures = []
            for backend in ("cpu", "graph"):
                done = programs.run(sample, "--backend", backend, "--json")
                self.assertEqual((done.returncode, done.stderr), (0, ""), sample.name)
                figures.append(json.loads(done.stdout))
                self.assertEqual(figures[-1]["faults"], [])
                self.assertNotRegex(figures[-1]["graph"], r"= \w+_(\.\w+)?\(")
            self.assertEqual(figures[0]["values"], figures[1]["values"], sample.name)

    def test_are_printed_as_the_readme_says(self):
        said = programs.run(FOLDER / "programs" / "worked_example.txt").stdout
        self.assertIn(f"```\n{said}```", (FOLDER / "README.md").read_text())


class Programs(Test):
    def test_take_parts_by_positions_and_ranges(self):
        values = self.values_of("x = arange(12).view(3, 4)\na = x[1]\nb = x[-1, 1]\nc = x[0:2, ::2]\n"
                                "d = x[:, 3]\ne = x[1:][0][2:]\ny = x[:]\ny.unsqueeze_(0)\ny[0, 0] = 1\nf = x[0]\n")
        self.assertEqual([values[name] for name in "abcdef"],
                         ["[4 5 6 7]", "9", "[[1 1]\n [4 6]]", "[ 1  7 11]", "[6 7]", "[1 1 1 1]"])

    def test_call_the_overload_that_takes_what_is_given(self):
        values = self.values_of(
            "x = arange(4)\na = x.view(2, 2)\nb = x.view([2, -1])\nc = x.to(f32).view(i32)\nd = x + x\ne = x + 1\n"
            "f = x.split(2)\nh = x.split([1, 3])\ni = x.sum()\nj = a.sum(0)\nk = sum(a, axes=[1], keepdim=true)\n"
            "l = full([2], 1.5, dtype=f64)\nm = zeros(1, 2, i8)\nn = 2 * x\no = add(a=x, b=-1)\n")
        self.assertEqual(values["a"], values["b"])
        self.assertEqual([values[name] for name in ("d", "e", "f[0]", "f[1]", "h[0]", "h[1]", "i", "j", "k", "l", "m", "n", "o")],
                         ["[0 2 4 6]", "[1 2 3 4]", "[0 1]", "[2 3]", "[0]", "[1 2 3]", "6", "[2 4]", "[[1]\n [5]]",
                          "[1.5 1.5]", "[[0 0]]", "[0 2 4 6]", "[-1  0  1  2]"])

    def test_compute_as_arithmetic_does(self):
        values = self.values_of("x = ones(1)\na = x + x * 2 - x / 2\nb = (x + x) * 2\nc = -x - -1\nd = x - 1 - 1\n")
        self.assertEqual([values[name] for name in "abcd"], ["[2.5]", "[4.]", "[0.]", "[-1.]"])

    def test_write_by_updates_and_name_by_assignments(self):
        values = self.values_of("x = zeros(3)\ny = x\nx += 1\nx[1] *= 5\nx[0] -= x[1]\nz = x\n"
                                "x = x + 1\nx[2] /= 4\ny[2] = z[0]\n")
        self.assertEqual(values, {"x": "[-3.   6.   0.5]", "y": "[-4.  5. -4.]", "z": "[-4.  5. -4.]"})

    def test_go_over_several_lines_within_brackets(self):
        values = self.values_of("# nothing\n\nx = cat([ones(1),  # one\n  zeros(1),\n], \naxis=0)\n"
                                "input = ones(1)\ninfo = input + 1\nout = zeros(1)\nadd(info, info, out=out)\n")
        self.assertEqual(values, {"x": "[1. 0.]", "input": "[1.]", "info": "[2.]", "out": "[4.]"})

    def test_whose_inputs_share_memory_have_one_input_of_the_graph(self):
        figures = self.figures_of("input x = zeros(4)\ninput y = x[1:3]\ninput z = ones(1)\ny += z\n")
        self.assertIn("graph(%0 x: f32[4], %1 z: f32[1])", figures["graph"])
        self.assertEqual(figures["values"]["x"], "[0. 1. 1. 0.]")

    def test_lose_operations_that_are_computed_twice(self):
        figures = self.figures_of("x = zeros(2)\na = x.view(1, 2)\na + 1\nb = x * 2\nc = x * 2\n")
        self.assertEqual((figures["dropped"], figures["graph"].count(" = ")), (1, 2))


class WrongPrograms(Test):
    def test_are_refused_at_their_line_and_column(self):
        for text, line, column, said in (
                ("x = zeros(2", 1, 12, "expected ',' or ')', found the end"),
                ("x = zeros(2)\ny = x +\n", 2, 8, "found the end of the line"),
                ("zeros(2) = 1", 1, 1, "left of ="),
                ("x = zeros(2) zeros(3)", 1, 14, "expected an operator or the end"),
                ("x = zeros(2)\ny = x[]\n", 2, 6, "nothing stands between the brackets"),
                ("x = zeros(2)\ny = x + z\n", 2, 9, "nothing is called 'z' yet"),
                ("x = zeros(2)\ny = x.fil_(1)\n", 2, 7, "fill_"),
                ("input x = 1", 1, 7, "an input is a tensor, not int 1"),
                ("x = zeros(2)\ny = x.view(1, 2, true)\n", 2, 7, "no view takes"),
                ("x = zeros(2)\nx.zero_(1, 2)\n", 2, 3, "takes no further arguments"),
                ("x = zeros(2).unbind()\ny = x[2]\n", 2, 6, "the list has 2 tensors"),
                ("x = zeros(2)\nx[5].fill_(1)\n", 2, 2, "select"),
                ("x = ones(1)\ny = " + "(" * 100000, 2, None, "too many parts"),
                ("x = ones(1)\ny = " + "-" * 100000, 2, None, "too many parts")):
            done = self.run_text(text)
            self.assertEqual((done.returncode, done.stdout), (1, ""), text[:50])
            self.assertIn(f"functionalize: program.txt:{line}:{column or ''}", done.stderr)
            self.assertIn(said, done.stderr)
            if column is not None:
                shown, mark = re.search(r"\n  ([^\n]*)\n( *)\^\n$", done.stderr).groups()
                self.assertEqual((shown, len(mark) - 1), (text.splitlines()[line - 1], column))


if __name__ == "__main__":
    unittest.main(verbosity=2)
