#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A short run of libFuzzer, the same every time: short_run.py PROGRAM CORPUS [RUNS]. The corpus is
left as it is; what is found is in the output, in base64."""
import subprocess
import sys
import tempfile

program, corpus = sys.argv[1:3]
runs = sys.argv[3] if len(sys.argv) > 3 else "3000"
with tempfile.TemporaryDirectory() as scratch:
    # New inputs go to the folder that is named first.
    sys.exit(subprocess.run(
        [program, "-seed=1", f"-runs={runs}", "-max_len=400", "-print_final_stats=1",
         f"-artifact_prefix={scratch}/", scratch, corpus]).returncode)
