#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs vulkan_diffusion small, checks its figures, and gives it what it cannot use. Test names are sentences; no test
looks at a time."""

import json
import os
import pathlib
import resource
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from programs import Test, figures_of, run

SIZE, STEPS = 40, 20
SMALL = [f"--size={SIZE}", f"--steps={STEPS}", "--repetitions=2"]
GRID_BYTES = 2 * (SIZE + 2) ** 2 * 4
FORMS = ["captured", "naive", "by operator", "fused"]
WITHOUT_DRIVER = {**os.environ, "VK_ICD_FILENAMES": "/nonexistent", "VK_DRIVER_FILES": "/nonexistent"}


def forms_of(figures):
    return {form["form"]: form for form in figures["device"]["forms"]}


class AWholeRun(unittest.TestCase):
    def assert_right(self, figures):
        self.assertIs(figures["verified"], True)
        self.assertEqual(figures["faults"], [])
        self.assertEqual(figures["device"]["validation_messages"], 0)

    def test_the_device_computes_what_the_host_does(self):
        for border in ("periodic", "fixed"):
            figures = figures_of(*SMALL, f"--border={border}", "--compare", "--eager")
            self.assert_right(figures)
            for form in figures["device"]["forms"]:
                self.assertLessEqual(form["largest_difference"], figures["bound"])

    def test_a_step_is_one_command_buffer_and_the_captured_one_copies_nothing(self):
        forms = forms_of(figures_of(*SMALL, "--compare", "--eager"))
        self.assertEqual(list(forms), [FORMS[0], "eager", *FORMS[1:]])
        for form in forms.values():
            self.assertEqual(form["submissions"], 1)
            self.assertEqual(form["step"]["count"], 2 * STEPS)
        for name in ("captured", "by operator", "fused"):
            self.assertEqual(forms[name]["bytes_copied"], 0)
        self.assertGreater(forms["naive"]["bytes_copied"], 0)

    def test_the_captured_form_takes_less_memory_than_copies(self):
        forms = forms_of(figures_of(*SMALL, "--compare"))
        self.assertLess(forms["captured"]["peak_bytes"], forms["naive"]["peak_bytes"])
        self.assertLessEqual(forms["captured"]["peak_bytes"], forms["by operator"]["peak_bytes"])

    def test_what_is_compared_has_its_ratios(self):
        ratios = figures_of(*SMALL, "--compare")["ratios"]
        self.assertEqual([(ratio["form"], ratio["beside"]) for ratio in ratios],
                         [("captured", "by operator"), ("captured", "fused"), ("captured", "naive")])
        for ratio in ratios:
            self.assertLessEqual(ratio["least_time"], ratio["time"])
            self.assertLessEqual(ratio["time"], ratio["most_time"])

    def test_a_run_that_compares_nothing_measures_the_captured_form_alone(self):
        figures = figures_of(*SMALL)
        self.assertEqual(list(forms_of(figures)), ["captured"])
        self.assertEqual(figures["ratios"], [])

    def test_the_host_alone_needs_no_driver(self):
        figures = figures_of(*SMALL, "--device=none", env=WITHOUT_DRIVER)
        self.assertIsNone(figures["device"])
        self.assertEqual(figures["host"]["step"]["count"], STEPS)

    def test_the_table_says_the_same(self):
        done = run(*SMALL, "--snapshot-every=5", "--compare")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Snapshots: 4, each what a run from the beginning has, bit for bit.", done.stdout)
        self.assertIn("captured beside by operator", done.stdout)


class Snapshots(unittest.TestCase):
    def test_taking_one_copies_nothing_and_the_next_step_copies_the_fields_once(self):
        for every, count in ((5, 4), (7, 3), (STEPS, 1)):
            snapshots = figures_of(*SMALL, f"--snapshot-every={every}")["device"]["snapshots"]
            self.assertEqual(snapshots["count"], count)
            self.assertEqual(snapshots["bytes"], count * GRID_BYTES)
            self.assertEqual(snapshots["differing_steps"], [])
            # No step follows the last one. A step that writes a grid of its own copies nothing.
            self.assertIn(snapshots["bytes_copied"], (0, (count - 1) * GRID_BYTES))
            self.assertGreaterEqual(snapshots["peak_bytes"], snapshots["bytes"])

    def test_a_lazy_clone_is_timed_on_either_side(self):
        device = figures_of(*SMALL)["device"]
        for clone in (device["host_clone"], device["device_clone"]):
            self.assertEqual(clone["count"], 11)
            self.assertGreater(clone["least_ns"], 0)

    def test_a_run_without_any_keeps_none(self):
        snapshots = figures_of(*SMALL, "--snapshot-every=0")["device"]["snapshots"]
        self.assertEqual((snapshots["count"], snapshots["bytes_copied"]), (0, 0))


class Frames(Test):
    def frames(self, *arguments):
        folder = self.scratch / "frames"
        figures = figures_of(*SMALL, "--frames", folder, *arguments)
        pictures = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        self.assertEqual(figures["frames"], len(pictures))
        return pictures

    def test_are_pictures_of_the_grid_each_so_many_steps_and_at_the_end(self):
        pictures = self.frames("--frame-every=8")
        self.assertEqual(list(pictures), ["frame-000000.png", "frame-000008.png", "frame-000016.png",
                                          "frame-000020.png"])
        for picture in pictures.values():
            self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(struct.unpack(">II", picture[16:24]), (SIZE, SIZE))
        self.assertEqual(len(set(pictures.values())), 4)

    def test_of_the_device_and_of_the_host_are_alike(self):
        on_device = self.frames("--frame-every=10")
        on_host = self.frames("--frame-every=10", "--device=none")
        self.assertEqual(on_device["frame-000000.png"], on_host["frame-000000.png"])
        self.assertEqual(list(on_device), list(on_host))

    def test_need_a_directory_that_can_be_written_to(self):
        file = self.scratch / "file"
        file.touch()
        self.assert_refused(1, "directory for frames", *SMALL, "--frames", file)
        self.assert_refused(1, "directory for frames", *SMALL, "--frames", file / "below")
        self.assert_refused(2, "--frames", *SMALL, "--frames", "")

    def test_on_a_full_disk_are_an_error(self):
        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        self.assert_refused(1, "cannot write the file", *SMALL, "--device=none", "--frames", self.scratch,
                            preexec_fn=limit_files)


class TheDevice(Test):
    def test_is_named(self):
        done = run("--name-device")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.strip(), figures_of(*SMALL)["device"]["name"])

    def test_without_a_driver_is_an_error_that_says_what_to_install(self):
        self.assert_refused(1, "no Vulkan driver was found", *SMALL, env=WITHOUT_DRIVER)

    def test_that_there_is_not_is_named(self):
        self.assert_refused(1, "BYRE_VULKAN_DEVICE", *SMALL, env={**os.environ, "BYRE_VULKAN_DEVICE": "99"})

    def test_takes_fields_that_its_shaders_can_see(self):
        if "llvmpipe" not in run("--name-device").stdout:
            self.skipTest("a card may take as much")
        self.assert_refused(1, "maxStorageBufferRange", "--size=8192", "--steps=1")


class WrongInput(Test):
    def test_numbers_that_make_no_sense_are_refused(self):
        for option, value in (("size", "7"), ("size", "16385"), ("size", "-8"), ("steps", "0"), ("steps", "1e3"),
                              ("repetitions", "0"), ("snapshot-every", "-1"), ("frame-every", "0"), ("seed", ""),
                              ("feed", "1.5"), ("feed", "nan"), ("kill", "-0.1"), ("kill", "0.1x"),
                              ("border", "odd"), ("device", "3")):
            self.assert_refused(2, f"--{option}", f"--{option}={value}")

    def test_figures_of_a_device_are_refused_without_one(self):
        for option in ("--eager", "--compare", "--name-device"):
            self.assert_refused(2, "--device none", "--device=none", option)

    def test_unknown_options_and_stray_words_are_refused(self):
        self.assert_refused(2, "--nonsense", "--nonsense")
        self.assert_refused(2, "--step", "--step=5")
        self.assert_refused(2, "usage", "stray")

    def test_a_place_that_cannot_be_written_to_is_named(self):
        self.assert_refused(1, "figures.json", *SMALL, "--json", "/no/such/figures.json")

    def test_json_goes_to_a_file_beside_the_table(self):
        path = self.scratch / "figures.json"
        done = run(*SMALL, "--json", path)
        self.assertIn("a step on the host", done.stdout)
        self.assertIs(json.loads(path.read_text())["verified"], True)

    def test_help_names_every_option(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for name in ("size", "steps", "border", "feed", "kill", "seed", "device", "name-device", "eager", "compare",
                     "repetitions", "snapshot-every", "frames", "frame-every", "json"):
            self.assertIn(f"--{name}", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
