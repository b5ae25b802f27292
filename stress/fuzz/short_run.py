#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A short run of libFuzzer, the same every time: short_run.py PROGRAM CORPUS FINDINGS [RUNS]. The
corpus is left as it is; what is found is kept in the folder FINDINGS, which is made if need be."""
import pathlib
import subprocess
import sys
import tempfile

program, corpus, findings = sys.argv[1:4]
runs = sys.argv[4] if len(sys.argv) > 4 else "3000"
pathlib.Path(findings).mkdir(parents=True, exist_ok=True)
with tempfile.TemporaryDirectory() as scratch:
    # New inputs go to the folder that is named first.
    status = subprocess.run(
        [program, "-seed=1", f"-runs={runs}", "-max_len=400", "-print_final_stats=1",
         f"-artifact_prefix={findings}/", scratch, corpus]).returncode
if status != 0:
    print(f"The input is in {findings}/; BYRE_STEPS=1 {program} FILE says what it does.")
sys.exit(status)
