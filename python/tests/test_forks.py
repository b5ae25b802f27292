# SPDX-License-Identifier: BSL-1.0
"""Forks while threads copy and blocks are collapsed."""
import multiprocessing
import os
import threading

import byre
import numpy as np
import pytest
from support import N, ramp, run_in_child, wait_for_collapses


def collapsing(n):
    """An array that the collapser works on, and its last copy."""
    arrays = [ramp(n)] * 2
    for _ in range(4):
        arrays[1] = byre.copy(arrays[0], lazy=True)
    return arrays


def test_child_copies_writes_frees_and_collapses_while_threads_work():
    running = [ramp(), ramp()]

    def work(mine):
        while running:
            mine = byre.copy(mine, lazy=True)
            mine[5] += 1

    def use(arrays):
        for x in [*arrays, *collapsing(4 * N)]:
            y = byre.copy(x, lazy=True)
            x[:] = -1
            assert np.array_equal(y, np.arange(len(y))) and (x == -1).all()
        wait_for_collapses()

    threads = [threading.Thread(target=work, args=(x,)) for x in running]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            arrays = collapsing(4 * N)
            run_in_child(lambda: use(arrays))
            assert all(np.array_equal(x, np.arange(4 * N)) for x in arrays)
    finally:
        running.clear()
        for thread in threads:
            thread.join()


def test_child_frees_a_block_that_was_being_collapsed():
    before = byre.stats().live_bytes
    for _ in range(10):
        arrays = collapsing(32 * N)
        run_in_child(lambda: arrays.clear() or os._exit(byre.stats().live_bytes != before))
        wait_for_collapses()


def test_writes_of_parent_and_child_stay_apart():
    arrays = [ramp() for _ in range(50)]
    arrays += [byre.copy(x) for x in arrays]
    to_child, to_parent = os.pipe(), os.pipe()

    def in_child():
        for number, x in enumerate(arrays):
            x[:9] = byre.copy(x)[-9:] = -number
        os.write(to_parent[1], b"1")
        os.read(to_child[0], 1)
        for number, x in enumerate(arrays):
            assert (x[:9] == -number).all() and np.array_equal(x[9:], np.arange(9, N))

    thread = threading.Thread(target=run_in_child, args=(in_child,))
    thread.start()
    os.read(to_parent[0], 1)
    for number, x in enumerate(arrays):
        assert np.array_equal(x, np.arange(N))
        byre.copy(x)[:] = x[:] = number
    os.write(to_child[1], b"1")
    thread.join()


def double(x):
    return byre.copy(x) * 2


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_exchange_arrays_as_numpys(method):
    sent = [ramp().reshape(4, -1), ramp().reshape(4, -1).T, ramp()[::3]]
    with multiprocessing.get_context(method).Pool(2) as pool:
        for x, y in zip(sent, pool.map(double, sent)):
            assert type(y) is np.ndarray and np.array_equal(y, x * 2)
