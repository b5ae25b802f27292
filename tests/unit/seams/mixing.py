# SPDX-License-Identifier: BSL-1.0
"""mixing.py MAIN LIBRARY... -- COMPILER...: linking code of one seam with a library of another seam has to fail."""
import subprocess
import sys
import tempfile


def main(*arguments):
    libraries, compiler = arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*compiler, *libraries, "-o", f"{folder}/program"], text=True, capture_output=True)
    print(done.stderr)
    if done.returncode == 0 or "byre::v0" not in done.stderr or "undefined" not in done.stderr:
        sys.exit("expected undefined symbols of the namespace of the other seam")


if __name__ == "__main__":
    main(*sys.argv[1:])
