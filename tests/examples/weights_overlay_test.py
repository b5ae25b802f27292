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

LAYERS, WIDTH, REQUESTS, CHANGE = 5, 128, 4, 2
SMALL = [f"--layers={LAYERS}", f"--width={WIDTH}", f"--requests={REQUESTS}"]
LAYER_BYTES = WIDTH * WIDTH * 4
MODEL_BYTES = LAYERS * LAYER_BYTES


class AWholeRun(unittest.TestCase):
    def test_every_output_is_checked_and_right(self):
        figures = figures_of(*SMALL, f"--change={CHANGE}")
        self.assertIs(figures["verified"], True)
        self.assertEqual(figures["faults"], [])
        self.assertEqual(figures["model"]["bytes"], MODEL_BYTES)

    def test_lazy_clones_share_all_layers_but_those_changed_and_deep_copies_share_none(self):
        for change in (0, CHANGE, LAYERS):
            deep, lazy = figures_of(*SMALL, f"--change={change}")["runs"]
            self.assertEqual(deep["bytes_shared"], 0)
            self.assertEqual(deep["bytes_copied"], REQUESTS * MODEL_BYTES)
            self.assertEqual(lazy["bytes_copied"], REQUESTS * change * LAYER_BYTES)
            self.assertEqual(lazy["bytes_shared"], REQUESTS * (LAYERS - change) * LAYER_BYTES)

    def test_each_request_that_changes_layers_has_an_output_of_its_own(self):
        self.assertEqual(figures_of(*SMALL, "--change=2")["distinct_outputs"], REQUESTS)
        self.assertEqual(figures_of(*SMALL, "--change=0")["distinct_outputs"], 1)

    def test_lazy_clones_take_less_memory_than_deep_copies(self):
        deep, lazy = figures_of("--layers=16", "--width=512", "--requests=6", "--change=1")["runs"]
        if deep["resident_bytes"] is None:
            self.skipTest("the system does not say what memory is resident")
        model_bytes = 16 * 512 * 512 * 4
        self.assertGreaterEqual(deep["resident_bytes"], 6 * model_bytes)
        self.assertLess(lazy["resident_bytes"], 2 * model_bytes)

    def test_the_table_says_the_same(self):
        done = run(*SMALL, f"--change={CHANGE}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"All {REQUESTS} outputs are the same, bit for bit", done.stdout)
        self.assertIn("resident memory", done.stdout)

    def test_one_of_everything_is_enough(self):
        self.assertIs(figures_of("--layers=1", "--width=1", "--requests=1",
                                 "--change=1")["verified"], True)


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
                              ("requests", "0"), ("requests", "many"), ("change", "-1"),
                              ("seed", ""), ("seed", "18446744073709551616")):
            self.assert_refused(2, f"--{option}", f"--{option}={value}")

    def test_more_changed_layers_than_there_are_are_refused(self):
        self.assert_refused(2, "more than --layers", "--layers=2", "--change=3")

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
        for name in ("layers", "width", "requests", "change", "seed", "json"):
            self.assertIn(f"--{name}", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
