# SPDX-License-Identifier: BSL-1.0
"""mixing.py NAMESPACE MAIN LIBRARY... -- COMPILER...: linking a program has to fail, because it contains code of
another seam than its library of byre. The code of the other seam is in the inline namespace NAMESPACE of byre."""
import re
import subprocess
import sys
import tempfile


def main(namespace, *arguments):
    libraries, compiler = arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*compiler, *libraries, "-o", f"{folder}/program"], text=True, capture_output=True)
    print(done.stderr)
    if done.returncode == 0 or not re.search(rf"undefined [^\n]*byre::{namespace}::", done.stderr):
        sys.exit(f"expected undefined symbols of byre::{namespace}")


if __name__ == "__main__":
    main(*sys.argv[1:])
