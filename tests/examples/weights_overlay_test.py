#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs weights_overlay small and checks its figures: what is shared, what is copied, and that files are removed."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from programs import Test, figures_of, run

LAYERS, WIDTH, REQUESTS = 5, 128, 4
SMALL = [f"--layers={LAYERS}", f"--width={WIDTH}", f"--requests={REQUESTS}"]
VARIANTS = 2 * REQUESTS  # each has a branch
LAYER_MIB = WIDTH * WIDTH * 4 / 2**20
HAS_OVERLAYS = sys.platform == "linux"


def ways_of(*arguments):
    figures = figures_of(*arguments)
    assert figures["faults"] == [], figures
    return figures["ways"].values()


class Requests(Test):
    def test_share_all_layers_that_they_do_not_change(self):
        for change in (0, 2, LAYERS):
            deep, loaded, mapped = ways_of(*SMALL, f"--change={change}", "--rows=3")
            self.assertEqual(deep["layers shared with the model"], 0)
            for lazy in (loaded, mapped):  # whose layers are too small for overlays
                self.assertEqual(lazy["layers shared with the model"], VARIANTS * (LAYERS - change))
                self.assertEqual(lazy["layers that are overlays"], 0)
                if lazy["copied by byre, MiB"] is not None:
                    self.assertAlmostEqual(lazy["copied by byre, MiB"], VARIANTS * change * LAYER_MIB,
                                           delta=0.01)  # a mapped file is copied with its header

    def test_of_large_mapped_layers_have_pages_of_their_own(self):
        deep, loaded, mapped = ways_of("--layers=3", "--width=1024", "--requests=3", "--change=2", "--rows=1")
        self.assertEqual(mapped["layers shared with the model"], loaded["layers shared with the model"])
        if not HAS_OVERLAYS:
            return
        self.assertEqual(mapped["layers that are overlays"], 6 * 2)
        if mapped["memory gained, MiB"] is not None:
            self.assertGreaterEqual(deep["memory gained, MiB"], 6 * 3 * 4)
            self.assertGreaterEqual(loaded["memory gained, MiB"], (3 + 6 * 2) * 4)
            self.assertLess(mapped["memory gained, MiB"], 4)  # than one layer

    def test_whose_branches_change_much_are_right_too(self):
        _, _, mapped = ways_of("--layers=3", "--width=1024", "--requests=3", "--change=2", "--rows=512")
        if HAS_OVERLAYS:
            self.assertEqual(mapped["layers that are overlays"], 3 * 2)  # branches are whole copies

    def test_have_outputs_of_their_own_if_they_change_rows(self):
        for arguments, count in ((["--change=2"], VARIANTS), (["--change=0"], 0), (["--rows=0"], 0)):
            self.assertEqual(figures_of(*SMALL, *arguments)["outputs unlike the model's"], count)

    def test_may_be_one_of_a_model_of_one_weight(self):
        ways_of("--layers=1", "--width=1", "--requests=1", "--change=1", "--rows=1")


class TheModelsFiles(Test):
    def test_are_removed(self):
        self.assertEqual(run(*SMALL, env={**os.environ, "TMPDIR": str(self.scratch)}).returncode, 0)
        self.assertEqual(list(self.scratch.iterdir()), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
