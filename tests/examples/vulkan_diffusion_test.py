#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs vulkan_diffusion small, and gives it what it cannot use. No test looks at a time."""

import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from programs import Test, run

SIZE, STEPS = 40, 20
SMALL = [f"--size={SIZE}", f"--steps={STEPS}", "--repetitions=2"]
WITHOUT_DRIVER = {**os.environ, "VK_ICD_FILENAMES": "/nonexistent", "VK_DRIVER_FILES": "/nonexistent"}


class VulkanDiffusion(Test):
    def test_each_form_computes_the_fields_of_the_host(self):
        done = run(*SMALL)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("All is right.", done.stdout)
        rows = {row[1]: row[2].split() for row in re.finditer(r"^(captured|eager|by hand) .*\) +(.*)$", done.stdout, re.M)}
        self.assertEqual(list(rows), ["captured", "eager", "by hand"])
        dispatches = {name: float(row[2]) for name, row in rows.items()}
        self.assertEqual(dispatches["by hand"], 1)
        self.assertGreater(dispatches["captured"], 20)

    def test_snapshots_stay_what_they_were(self):
        for every, count in ((5, 4), (7, 2), (STEPS, 1), (STEPS + 1, 0)):
            done = run(*SMALL, f"--snapshot-every={every}")
            self.assertEqual(done.returncode, 0, done)
            self.assertIn(f"{count} of {count} snapshots are what they were", done.stdout)

    def test_a_picture_is_of_the_grid(self):
        file = self.scratch / "picture.ppm"
        self.assertEqual(run(*SMALL, "--picture", file).returncode, 0)
        picture = file.read_bytes()
        header = f"P6 {SIZE} {SIZE} 255\n".encode()
        self.assertTrue(picture.startswith(header))
        pixels = picture[len(header):]
        self.assertEqual(len(pixels), 3 * SIZE * SIZE)
        self.assertGreater(len({pixels[at:at + 3] for at in range(0, len(pixels), 3)}), 10)
        self.assert_fails("No such file", "--picture", self.scratch / "none" / "picture.ppm")

    def test_a_device_that_is_missing_is_an_error_with_a_way_out(self):
        self.assert_refused(1, "mesa-vulkan-drivers", *SMALL, env=WITHOUT_DRIVER)
        self.assert_refused(1, "BYRE_VULKAN_DEVICE", *SMALL, env={**os.environ, "BYRE_VULKAN_DEVICE": "99"})

    def test_wrong_usage_is_refused(self):
        for option, value in (("size", "7"), ("size", "16385"), ("steps", "0"), ("steps", "1e3"),
                              ("repetitions", "0"), ("snapshot-every", "-1")):
            self.assert_refused(2, f"--{option}", f"--{option}={value}")
        self.assert_refused(2, "--nonsense", "--nonsense")

    def test_help_names_every_option(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for name in ("size", "steps", "repetitions", "snapshot-every", "picture"):
            self.assertIn(f"--{name}", done.stdout)

    def assert_fails(self, said, *arguments):
        done = run(*SMALL, *arguments)
        self.assertEqual(done.returncode, 1)
        self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
