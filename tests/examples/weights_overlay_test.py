#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs weights_overlay small, checks its figures, and gives it what it cannot use. Test names are
sentences; no test looks at a time."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from programs import PROGRAM, Test, figures_of, run

LAYERS, WIDTH, REQUESTS, CHANGE, ROWS = 5, 128, 4, 2, 3
SMALL = [f"--layers={LAYERS}", f"--width={WIDTH}", f"--requests={REQUESTS}"]
LAYER_BYTES = WIDTH * WIDTH * 4
MODEL_BYTES = LAYERS * LAYER_BYTES
VARIANTS = 2 * REQUESTS  # each has a branch
# Layers large enough to be in pages. A row is as long as a page, and begins within one.
IN_PAGES = ["--layers=3", "--width=1024", "--requests=3", "--change=2"]
PAGE_BYTES = resource.getpagesize()
HAS_OVERLAYS = sys.platform == "linux"


class AWholeRun(unittest.TestCase):
    def test_every_output_is_checked_and_right(self):
        figures = figures_of(*SMALL, f"--change={CHANGE}", f"--rows={ROWS}")
        self.assertIs(figures["verified"], True)
        self.assertEqual(figures["faults"], [])
        self.assertEqual(figures["model"]["bytes"], MODEL_BYTES)

    def test_lazy_clones_share_all_layers_but_those_changed_and_deep_copies_share_none(self):
        for change in (0, CHANGE, LAYERS):
            deep, loaded, mapped = figures_of(*SMALL, f"--change={change}", f"--rows={ROWS}")["runs"]
            self.assertEqual(deep["bytes_shared"], 0)
            self.assertEqual(deep["bytes_copied"], VARIANTS * MODEL_BYTES)
            for lazy in (loaded, mapped):  # which is too small to be mapped again
                self.assertEqual(lazy["bytes_copied"], VARIANTS * change * LAYER_BYTES)
                self.assertEqual(lazy["bytes_shared"], VARIANTS * (LAYERS - change) * LAYER_BYTES)
                self.assertEqual(lazy["overlays"], 0)

    @unittest.skipUnless(HAS_OVERLAYS, "for systems with overlays")
    def test_of_mapped_layers_the_pages_are_copied_that_changed_rows_lie_in(self):
        figures = figures_of(*IN_PAGES, "--rows=1")
        self.assertIs(figures["verified"], True)
        deep, loaded, mapped = figures["runs"]
        self.assertEqual((deep["overlays"], loaded["overlays"]), (0, 0))
        self.assertEqual(mapped["overlays"], 6 * 2)
        self.assertEqual(mapped["bytes_shared"], loaded["bytes_shared"])
        if mapped["bytes_copied"] is None:
            self.skipTest("the system does not say which pages were written")
        # A request has one row of two layers, its branch two rows, and neighbours share a page.
        pages_of_a_row = -(-4096 // PAGE_BYTES) + 1
        self.assertLessEqual(mapped["bytes_copied"], 3 * 2 * 3 * pages_of_a_row * PAGE_BYTES)
        self.assertGreaterEqual(mapped["bytes_copied"], 3 * 2 * 2 * PAGE_BYTES)

    def test_a_branch_that_changes_much_is_right_too(self):
        figures = figures_of(*IN_PAGES, "--rows=512")
        self.assertIs(figures["verified"], True)
        if HAS_OVERLAYS:
            self.assertEqual(figures["runs"][2]["overlays"], 3 * 2)  # of which branches are whole copies

    def test_each_request_that_changes_rows_has_an_output_of_its_own_and_so_has_its_branch(self):
        self.assertEqual(figures_of(*SMALL, "--change=2")["distinct_outputs"], VARIANTS)
        self.assertEqual(figures_of(*SMALL, "--change=0")["distinct_outputs"], 1)
        self.assertEqual(figures_of(*SMALL, "--rows=0")["distinct_outputs"], 1)

    def test_lazy_clones_take_less_memory_than_deep_copies_and_in_pages_least(self):
        deep, loaded, mapped = figures_of("--layers=4", "--width=1024", "--requests=3", "--change=1",
                                          "--rows=4")["runs"]
        if deep["resident_bytes"] is None:
            self.skipTest("the system does not say what memory is resident")
        model_bytes = 4 * 1024 * 1024 * 4
        self.assertGreaterEqual(deep["resident_bytes"], 6 * model_bytes)
        self.assertLess(loaded["resident_bytes"], 3 * model_bytes)
        if HAS_OVERLAYS:
            self.assertLess(mapped["resident_bytes"], model_bytes // 2)

    def test_the_table_says_the_same(self):
        done = run(*SMALL, f"--change={CHANGE}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"All {VARIANTS} outputs are the same, bit for bit", done.stdout)
        self.assertIn("resident memory", done.stdout)

    def test_one_of_everything_is_enough(self):
        self.assertIs(figures_of("--layers=1", "--width=1", "--requests=1", "--change=1",
                                 "--rows=1")["verified"], True)


class WithEnvironment(Test):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "TMPDIR": str(self.scratch)}


class Files(WithEnvironment):
    def test_the_models_files_are_removed(self):
        self.assertEqual(run(*SMALL, env=self.environment).returncode, 0)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_an_interrupted_run_leaves_nothing(self):
        running = subprocess.Popen([PROGRAM, "--layers=4096", "--width=64"], env=self.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not list(self.scratch.iterdir()):
            self.assertIsNone(running.poll())
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 128 + signal.SIGINT)
        self.assertIn("interrupted", said)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_json_goes_to_a_file_beside_the_table(self):
        path = self.scratch / "figures.json"
        done = run(*SMALL, "--json", path)
        self.assertIn("bytes shared", done.stdout)
        self.assertIs(json.loads(path.read_text())["verified"], True)


class WrongInput(WithEnvironment):
    def test_numbers_that_make_no_sense_are_refused(self):
        for option, value in (("layers", "0"), ("layers", "-1"), ("layers", "4097"),
                              ("width", "0"), ("width", "1e3"), ("width", "16385"),
                              ("requests", "0"), ("requests", "many"), ("change", "-1"), ("rows", "-1"), ("rows", "16385"),
                              ("seed", ""), ("seed", "18446744073709551616")):
            self.assert_refused(2, f"--{option}", f"--{option}={value}")

    def test_more_changed_layers_than_there_are_are_refused(self):
        self.assert_refused(2, "more than --layers", "--layers=2", "--change=3")

    def test_more_changed_rows_than_there_are_are_refused(self):
        self.assert_refused(2, "more than --width", "--width=2", "--rows=3")

    def test_copies_beyond_the_machine_are_refused_before_anything_is_written(self):
        self.assert_refused(2, "Give fewer --requests", "--layers=4096", "--width=16384",
                            "--requests=1024", env=self.environment)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_unknown_options_and_stray_words_are_refused(self):
        self.assert_refused(2, "--nonsense", "--nonsense")
        self.assert_refused(2, "--layer", "--layer=5")
        self.assert_refused(2, "usage", "stray")
        self.assert_refused(2, "one file", "--json", "one", "two")

    def test_a_place_that_cannot_be_written_to_is_named(self):
        self.assert_refused(1, "temporary files", *SMALL, env={**os.environ, "TMPDIR": "/no/such"})
        self.assert_refused(1, "figures.json", *SMALL, "--json", "/no/such/figures.json")

    def test_a_full_disk_is_an_error_that_leaves_nothing(self):
        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        self.assert_refused(1, "cannot write the file", *SMALL, env=self.environment,
                            preexec_fn=limit_files)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_help_names_every_option(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for name in ("layers", "width", "requests", "change", "rows", "seed", "json"):
            self.assertIn(f"--{name}", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
