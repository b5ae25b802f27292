# SPDX-License-Identifier: BSL-1.0
"""Helpers that several test files use."""
import multiprocessing
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.reduction import ForkingPickler

import byre
import numpy as np
import pytest

N = 1 << 17  # elements of float64: 1 MiB


def refused(kind, *words):
    """A context that expects an error of type `kind` whose text contains these words in this order."""
    return pytest.raises(kind, match=".*".join(re.escape(word) for word in words))


def same(array, expected):
    """Whether type, dtype, shape and elements are equal."""
    facts, expected_facts = [(type(x), x.dtype, x.shape, x.tobytes()) for x in (array, expected)]
    return facts == expected_facts


def copied(x, **options):
    """byre.copy(x), and the numbers of lazy copies and of copied bytes that it counted."""
    before = byre.stats()
    copy = byre.copy(x, **options)
    counted = byre.stats() - before
    return copy, counted.lazy_copies, counted.bytes_copied


def sent(x):
    """The tree that a byre.Connection receives, and the numbers of lazy copies and of copied bytes that it counted."""
    def send():
        with here:  # so that recv() ends if send() fails
            here.send(x)

    here, there = byre.Pipe()
    before = byre.stats()
    with there, ThreadPoolExecutor() as pool:
        sending = pool.submit(send)
        try:
            received = there.recv()
        finally:
            sending.result()
    counted = byre.stats() - before
    return received, counted.lazy_copies, counted.bytes_copied


def pickled(x):
    """The copy of x that multiprocessing makes, and the numbers of lazy copies and of copied bytes."""
    before = byre.stats()
    received = ForkingPickler.loads(ForkingPickler.dumps(x))
    counted = byre.stats() - before
    return received, counted.lazy_copies, counted.bytes_copied


class Tagged(np.ndarray):
    def __array_finalize__(self, source):
        self.tag = getattr(source, "tag", None)


def tagged(array):
    array = array.view(Tagged)
    array.tag = "kept"
    return array


DTYPES = ["u1", "?", ">i4", "c16", "M8[s]", "m8[ms]", "S16", "U4", "<i4, >f8, S4"]
# Views of a ramp. Copies of DENSE views keep the layout; copies of STRIDED views are packed; SMALL arrays are small.
DENSE = {
    **{f"dtype {dtype}": lambda x, dtype=dtype: x.view(dtype) for dtype in DTYPES},
    "one dimension": lambda x: x,
    "rows": lambda x: x.reshape(256, -1),
    "columns": lambda x: x.reshape(256, -1).T,
    "permuted axes": lambda x: x.reshape(16, 32, -1).transpose(1, 2, 0),
    "a part": lambda x: x[100 : N - 7],
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
SMALL = {
    "small part of a block": lambda x: x[3:13],
    "sliding windows": lambda x: np.lib.stride_tricks.sliding_window_view(x[:1000], 10),
    "small": lambda x: np.arange(5),
    "small fortran order": lambda x: np.asfortranarray(np.arange(6).reshape(2, 3)),
    "small backwards": lambda x: np.arange(9)[::-1],
    "small broadcast": lambda x: np.broadcast_to(np.arange(3), (2, 3)),
    "small matrix": lambda x: np.ones((3, 3)).view(np.matrix),
    "no dimension": lambda x: np.array(2.5),
    "no element": lambda x: np.empty((0, 3), "i2"),
}
VIEWS = {**DENSE, **STRIDED, **SMALL}


def ramp(n=N):
    """An array in pages: 0.0, 1.0, ..."""
    array = byre.empty(n)
    array[:] = np.arange(n)
    return array


_first = ramp()  # the first array opens the page file that all blocks share


def used():
    """The numbers of blocks, of mappings of pages, and of file descriptors of the process."""
    with open("/proc/self/maps") as maps:
        return byre.memory().blocks, sum("memfd:byre" in line for line in maps), len(os.listdir("/proc/self/fd"))


def run_in_child(action, meanwhile=lambda: None):
    """Runs the action in a forked child. Fails if the action fails or hangs there."""
    child = multiprocessing.get_context("fork").Process(target=action, daemon=True)
    child.start()
    meanwhile()
    child.join(60)
    assert child.exitcode == 0


def wait_for_collapses():
    """Waits for the threads that move blocks to huge pages."""
    for thread in threading.enumerate():
        if thread.name == "byre.collapse":
            thread.join()
