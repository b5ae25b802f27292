# SPDX-License-Identifier: BSL-1.0
"""Loads many copies of a library into one process, each of which has state of its own: copies.py LIBRARY"""
import ctypes
import pathlib
import shutil
import sys
import tempfile

COUNT = 64


def main(library):
    with tempfile.TemporaryDirectory(prefix="byre-copies-") as folder:
        for number in range(COUNT):
            copy = pathlib.Path(folder) / f"libcopy{number}.so"
            shutil.copy(library, copy)
            try:
                ctypes.CDLL(str(copy))
            except OSError as error:
                sys.exit(f"copy {number + 1} of {COUNT} could not be loaded: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
