#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs functionalize on each backend, and compares its output with the README: functionalize_test.py PROGRAM README."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
README = pathlib.Path(sys.argv.pop())
import programs


class Samples(unittest.TestCase):
    def test_all_backends_compute_equal_results(self):
        found = [programs.figures_of("--backend", backend) for backend in ("cpu", "graph")]
        self.assertEqual([each["faults"] for each in found], [[], []])
        on_cpu, on_graph = (each["programs"] for each in found)
        self.assertEqual(on_cpu, on_graph)
        self.assertEqual(len(on_cpu), 5)
        for name, sample in on_cpu.items():
            self.assertNotRegex(sample["graph"], r"= \w+_(\.\w+)?\(", name)
        self.assertEqual(on_cpu["write_rows"]["values"], ["[[1. 1.]\n [2. 2.]\n [3. 3.]]", "12."])
        self.assertEqual((on_cpu["overwrite"]["dropped"], on_cpu["overwrite"]["graph"].count(" = ")), (1, 4))
        self.assertRegex(on_cpu["write_window"]["graph"], r"^graph\(%0: f32\[6\]\):")

    def test_the_readme_contains_the_first_programs_output(self):
        first, _, _ = programs.run().stdout.partition("write_rows: ")
        self.assertIn(f"```\n{first.strip()}\n```", README.read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
