#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs vulkan_diffusion with small sizes, and tests its errors. Times are not checked."""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from programs import Test, run

SIZE = 40
SMALL = [f"--size={SIZE}", "--steps=20"]
WITHOUT_DRIVER = {**os.environ, "VK_ICD_FILENAMES": "/nonexistent", "VK_DRIVER_FILES": "/nonexistent"}


class VulkanDiffusion(Test):
    def test_fields_equal_the_hosts_and_snapshots_are_unchanged(self):
        done = run(*SMALL)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("Fields are within the bound, snapshots are unchanged.", done.stdout)
        forms = json.loads(run(*SMALL, "--json").stdout)["forms"]
        self.assertEqual([forms[name]["dispatches"] for name in ("host", "by hand")], [0, 1])
        self.assertGreater(forms["functionalized"]["dispatches"], 20)

    def test_a_missing_device_is_an_error_with_advice(self):
        self.assert_refused(1, "mesa-vulkan-drivers", *SMALL, env=WITHOUT_DRIVER)
        self.assert_refused(1, "BYRE_VULKAN_DEVICE", *SMALL, env={**os.environ, "BYRE_VULKAN_DEVICE": "99"})

    def test_invalid_arguments_are_refused(self):
        for option, value in (("size", "7"), ("size", "16385"), ("steps", "3"), ("steps", "1e3")):
            self.assert_refused(2, f"--{option}", f"--{option}={value}")
        self.assert_refused(2, "--nonsense", "--nonsense")


if __name__ == "__main__":
    unittest.main(verbosity=2)
