# SPDX-License-Identifier: BSL-1.0
"""Threads that copy, write, read and free arrays at once."""
import ctypes
import sys
from concurrent.futures import ThreadPoolExecutor

import byre
import numpy as np
from byre import _byre
from support import N, ramp


def run_on_threads(action):
    """Runs action(number) on four threads at once."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(action, range(4)))
    finally:
        sys.setswitchinterval(interval)


def test_threads_copy_one_array_and_read_it_meanwhile():
    source, expected = ramp(), np.arange(N)

    def copy(number):
        for step in range(60):
            x = byre.copy(source, lazy=True)
            assert np.array_equal(x, expected) and np.array_equal(source, expected)
            x[number] = -1 - step
            y = byre.copy(x, lazy=True)
            x[:] = number
            assert y[number] == -1 - step and np.array_equal(y[9:], expected[9:]) and (x == number).all()

    run_on_threads(copy)
    assert np.array_equal(source, expected)


def test_threads_copy_arrays_of_one_file_while_others_free_some():
    family = [ramp()]
    family += [byre.copy(family[0], lazy=True) for _ in range(3)]

    def replace(number):
        mine, expected = family.pop(), np.arange(N)
        for step in range(100):
            mine = byre.copy(mine, lazy=True)
            mine[number * 100 + step] = expected[number * 100 + step] = -1
            assert byre.memory().nbytes >= mine.nbytes and "in a block of" in byre.explain(mine)
        assert np.array_equal(mine, expected)

    run_on_threads(replace)


def test_numpys_handler_works_without_the_interpreters_lock():
    capsule = _byre.handler(5000)
    address, size = ctypes.c_void_p, ctypes.c_size_t
    get = ctypes.PYFUNCTYPE(address, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    context, *functions = (address * 5).from_address(get(capsule, b"mem_handler") + 128)  # a PyDataMemAllocator
    types = [(address, address, size), (address, address, size, size), (address, address, address, size)]
    types.append((None, address, address, size))
    malloc, calloc, realloc, free = [ctypes.CFUNCTYPE(*types[n])(function) for n, function in enumerate(functions)]
    blocks = byre.memory().blocks

    def allocate(number):
        for nbytes in (1 << 16, 100, 6000) * 20:
            data = malloc(context, nbytes)
            ctypes.memset(data, number, nbytes)
            data = realloc(context, data, 3 * nbytes)
            zeros = calloc(context, 2, nbytes)
            assert ctypes.string_at(data, nbytes) == bytes([number]) * nbytes
            assert ctypes.string_at(zeros, 2 * nbytes) == bytes(2 * nbytes)
            free(context, data, 3 * nbytes)
            free(context, zeros, 2 * nbytes)

    run_on_threads(allocate)
    assert calloc(context, 1 << 62, 16) is None and free(context, None, 5) is None
    assert byre.memory().blocks == blocks
