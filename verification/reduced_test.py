# SPDX-License-Identifier: BSL-1.0
"""The reduced search sees what the full one sees, in all that the litmus tests look at.

usage: reduced_test.py BYRE_VERIFY
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# What it leaves out by design: see verification/relacy/sleep_sets.hpp.
LEFT_OUT = {
    "litmus.spurious_failure",  # a compare-exchange that fails spuriously
    "litmus.blind.freed_header",  # either order of two accesses that no checker watches
}


def litmus_tests(binary):
    listed = subprocess.run([binary, "--list"], check=True, capture_output=True, text=True).stdout
    return re.findall(r"^(litmus\.[\w.]+):", listed, re.MULTILINE)


def surprises(binary, names):
    """Those that do not end, reduced, as they do in full."""
    with tempfile.TemporaryDirectory() as folder:
        found = pathlib.Path(folder) / "found.json"
        chosen = [word for name in names for word in ("--scenario", name)]
        subprocess.run([binary, "--bound", "reduced", "--json", found, *chosen],
                       stdout=subprocess.DEVNULL, check=False)
        return {result["scenario"] for result in json.loads(found.read_text())
                if result["verdict"] != result["expected"]}


def main():
    binary = sys.argv[1]
    names = litmus_tests(binary)
    if len(names) < 50:
        sys.exit(f"--list names {len(names)} litmus tests; there are more")
    seen_otherwise = surprises(binary, names)
    for name in sorted(seen_otherwise - LEFT_OUT):
        print(f"{name} ends otherwise, reduced: byre-verify --bound reduced --scenario {name}")
    for name in sorted(LEFT_OUT - seen_otherwise):
        print(f"{name} ends the same, reduced: it is no exception any more")
    if seen_otherwise != LEFT_OUT:
        sys.exit(1)
    print(f"{len(names)} litmus tests, {len(LEFT_OUT)} exceptions")


if __name__ == "__main__":
    main()
