#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A short, reproducible run of libFuzzer: short_run.py PROGRAM CORPUS FINDINGS [RUNS]. The corpus is
not changed; inputs that fail are stored in the folder FINDINGS, which is created if necessary."""
import pathlib
import subprocess
import sys
import tempfile

program, corpus, findings = sys.argv[1:4]
runs = sys.argv[4] if len(sys.argv) > 4 else "2000"
pathlib.Path(findings).mkdir(parents=True, exist_ok=True)
with tempfile.TemporaryDirectory() as scratch:
    # The temporary folder comes first, because libFuzzer adds new inputs to the first folder.
    status = subprocess.run(
        [program, "-seed=1", f"-runs={runs}", "-max_len=400", "-print_final_stats=1",
         f"-artifact_prefix={findings}/", scratch, corpus]).returncode
if status != 0:
    print(f"The input is in {findings}/. Run BYRE_STEPS=1 {program} FILE to print its steps.")
sys.exit(status)
