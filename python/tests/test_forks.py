# SPDX-License-Identifier: BSL-1.0
"""A process that forks while its threads work: nothing is half done in the child, and nothing locked."""
import multiprocessing
import os
import threading

import byre
import numpy as np
from byre import _byre
from support import values


class Working:
    """Threads that write and copy the arrays until the block ends."""

    def __init__(self, arrays):
        self.arrays = arrays
        self.ends = False

    def work(self):
        number = 0
        while not self.ends:
            for array in self.arrays:
                number += 1
                array[...] = number
                array.copy().__iadd__(1)

    def __enter__(self):
        self.threads = [threading.Thread(target=self.work) for _ in range(3)]
        for thread in self.threads:
            thread.start()

    def __exit__(self, *_):
        self.ends = True
        for thread in self.threads:
            thread.join()


def check(arrays):
    for array in arrays:
        elements = values(array)
        assert (elements == elements[0]).all()
        clone = array.copy()
        array[...] = 5
        clone += 1
        assert (values(clone) == elements[0] + 1).all()
        assert (values(array) == 5).all()
    return True


def arrays_of_some_sizes():
    return [byre.zeros(size, "int64") for size in (10, 5_000, 50_000)] + [byre.zeros(100_000, "int64", pages=True)]


def test_children_find_arrays_whole():
    arrays = arrays_of_some_sizes()
    with Working(arrays):
        for _ in range(30):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    check(arrays)
                    _byre._release_on_a_thread(object())
                    byre.zeros(1)
                    status = 0
                finally:
                    os._exit(status)
            _, status = os.waitpid(child, 0)
            assert status == 0
    check(arrays)


def test_the_parent_goes_on():
    arrays = arrays_of_some_sizes()
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    # Each stripe has been given back: arrays of many addresses can be written.
    others = [byre.zeros(10, "int64") for _ in range(1000)]
    for array in arrays + others:
        array += 1
    _byre._release_on_a_thread(object())
    assert check(arrays + others)


def test_processes_of_multiprocessing_send_arrays():
    x = byre.array(np.arange(100_000).reshape(100, 1000))
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert [y.tolist() for y in pool.map(double, [x[:2], x[2:4]])] == [
                (values(x[:2]) * 2).tolist(),
                (values(x[2:4]) * 2).tolist(),
            ]


def double(array):
    return array * 2
