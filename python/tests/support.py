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


def copied(x, **options):
    """byre.copy(x), with the lazy copies and the copied bytes that it counted."""
    with Counted() as counted:
        copy = byre.copy(x, **options)
    return copy, counted.lazy_copies, counted.bytes_copied


class Tagged(np.ndarray):
    def __array_finalize__(self, source):
        self.tag = getattr(source, "tag", None)


def tagged(array):
    array = array.view(Tagged)
    array.tag = "kept"
    return array


# Views of a ramp that copies keep as they are, and views that copies pack.
DENSE = {
    "one dimension": lambda x: x,
    "rows": lambda x: x.reshape(256, -1),
    "columns": lambda x: x.reshape(256, -1).T,
    "permuted axes": lambda x: x.reshape(16, 32, -1).transpose(1, 2, 0),
    "a part": lambda x: x[100 : N - 7],
    "bytes": lambda x: x.view("u1"),
    "other byte order": lambda x: x.view(">i4"),
    "complex": lambda x: x.view("c16"),
    "dates": lambda x: x.view("M8[s]"),
    "durations": lambda x: x.view("m8[ms]"),
    "strings": lambda x: x.view("S16"),
    "records": lambda x: x.view([("key", "<i4"), ("value", ">f8"), ("name", "S4")]),
    "matrix": lambda x: x.reshape(256, -1).view(np.matrix),
    "subclass with attributes": tagged,
    "read-only": lambda x: np.lib.stride_tricks.as_strided(x, writeable=False),
    "axes of length 1": lambda x: x.reshape(1, -1, 1)[:, :, ::-1],
}
STRIDED = {
    "subclass with gaps": lambda x: tagged(x[::2]),
    "every second": lambda x: x[::2],
    "backwards": lambda x: x[::-1],
    "a column": lambda x: x.reshape(256, -1)[:, 3],
    "one field": lambda x: x.view("i4,f4")["f1"],
    "misaligned": lambda x: x.view("u1")[1:-7].view("f8"),
    "broadcast": lambda x: np.broadcast_to(x, (2, len(x))),
}
VIEWS = {**DENSE, **STRIDED}


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
