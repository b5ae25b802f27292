# SPDX-License-Identifier: BSL-1.0
"""Helpers that several test files use."""
import os
import re
import threading
import signal
import traceback

import byre
import numpy as np
import pytest

N = 1 << 17  # elements of float64: 1 MiB


def refused(kind, *words):
    """A block that raises `kind` with a text that has these words in this order."""
    return pytest.raises(kind, match=".*".join(re.escape(word) for word in words))


def same(array, expected):
    """Whether type, dtype, shape and elements are equal."""
    return (
        type(array) is type(expected)
        and array.dtype == expected.dtype
        and array.shape == expected.shape
        and array.tobytes() == expected.tobytes()
    )


class Counted:
    """What byre.stats() counted since the block began."""

    def __enter__(self):
        self._before = byre.stats()
        return self

    def __exit__(self, *_):
        self._after = byre.stats()

    def __getattr__(self, name):
        return getattr(self._after - self._before, name)


def ramp(n=N):
    """An array in pages: 0.0, 1.0, ..."""
    array = byre.empty(n)
    array[:] = np.arange(n)
    return array


_first = ramp()  # the first array opens the file that blocks are parts of


def used():
    """Blocks, mappings of pages and file descriptors of the process."""
    with open("/proc/self/maps") as maps:
        return byre.memory().blocks, sum("memfd:byre" in line for line in maps), len(os.listdir("/proc/self/fd"))


def run_in_child(action):
    """Fails if the action fails in a child of a fork, or hangs there."""
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(60)
            action()
            os._exit(0)
        finally:
            traceback.print_exc()
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def wait_for_collapses():
    """Waits for the threads that move blocks to huge pages."""
    for thread in threading.enumerate():
        if thread.name == "byre.collapse":
            thread.join()
