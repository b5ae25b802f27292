#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs weights_overlay with small sizes and checks which layers are shared and copied, and that files are removed."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from programs import Test, figures_of, run

LAYERS, WIDTH, REQUESTS = 5, 128, 4
SMALL = [f"--layers={LAYERS}", f"--width={WIDTH}", f"--requests={REQUESTS}"]
MODELS = 2 * REQUESTS  # each request has a branch
LAYER_MIB = WIDTH * WIDTH * 4 / 2**20
HAS_OVERLAYS = sys.platform == "linux"


def variants_of(*arguments):
    figures = figures_of(*arguments)
    assert figures["faults"] == [], figures
    return figures["variants"].values()


class Requests(Test):
    def test_share_unchanged_layers_with_the_model(self):
        for change in (0, 2, LAYERS):
            deep, loaded, mapped = variants_of(*SMALL, f"--change={change}", "--rows=3")
            self.assertEqual(deep["layers shared with the model"], 0)
            for lazy in (loaded, mapped):  # the layers are too small for overlays
                self.assertEqual(lazy["layers shared with the model"], MODELS * (LAYERS - change))
                self.assertEqual(lazy["layers in overlays"], 0)
                if lazy["copied by byre, MiB"] is not None:
                    self.assertAlmostEqual(lazy["copied by byre, MiB"], MODELS * change * LAYER_MIB,
                                           delta=0.01)  # a mapped file is copied with its header

    def test_for_large_mapped_layers_copy_only_the_written_pages(self):
        deep, loaded, mapped = variants_of("--layers=3", "--width=1024", "--requests=3", "--change=2", "--rows=1")
        self.assertEqual(mapped["layers shared with the model"], loaded["layers shared with the model"])
        if not HAS_OVERLAYS:
            return
        self.assertEqual(mapped["layers in overlays"], 6 * 2)
        if mapped["memory gained, MiB"] is not None:
            self.assertGreaterEqual(deep["memory gained, MiB"], 6 * 3 * 4)
            self.assertGreaterEqual(loaded["memory gained, MiB"], (3 + 6 * 2) * 4)
            self.assertLess(mapped["memory gained, MiB"], 4)  # less than one layer

    def test_whose_branches_change_many_rows_copy_whole_layers(self):
        _, _, mapped = variants_of("--layers=3", "--width=1024", "--requests=3", "--change=2", "--rows=512")
        if HAS_OVERLAYS:
            self.assertEqual(mapped["layers in overlays"], 3 * 2)  # branches copy whole layers

    def test_change_the_output_only_if_they_change_rows(self):
        for arguments, count in ((["--change=2"], MODELS), (["--change=0"], 0), (["--rows=0"], 0)):
            self.assertEqual(figures_of(*SMALL, *arguments)["changed outputs"], count)

    def test_to_a_model_with_a_single_weight_succeed(self):
        variants_of("--layers=1", "--width=1", "--requests=1", "--change=1", "--rows=1")


class TheModelsFiles(Test):
    def test_are_removed_when_the_program_ends(self):
        self.assertEqual(run(*SMALL, env={**os.environ, "TMPDIR": str(self.scratch)}).returncode, 0)
        self.assertEqual(list(self.scratch.iterdir()), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
