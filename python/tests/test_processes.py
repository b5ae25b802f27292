# SPDX-License-Identifier: BSL-1.0
"""Arrays that multiprocessing and byre.Connection send to other processes."""
import contextlib
import gc
import mmap
import multiprocessing
import os
import pickle
import resource
import socket
import struct
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import resource_sharer
from multiprocessing.reduction import ForkingPickler

import byre
import numpy as np
import pytest
from pytorch import torch
from support import DENSE, SMALL, STRIDED, VIEWS, N, ramp, refused, run_in_child, same, used

METHODS = ["fork", "spawn", "forkserver"]
PAGE = 512  # elements of float64


@pytest.fixture(scope="module", autouse=True)
def no_descriptor_is_left():
    """The fork server, the resource tracker and the thread that passes descriptors start before the count, or end."""
    multiprocessing.get_context("forkserver").Process(target=len, args=((),)).start()
    for child in multiprocessing.active_children():
        child.join()
    gc.collect()
    before = used()
    yield
    resource_sharer.stop()
    gc.collect()
    assert used() == before and byre.collect().remaining == 0


@contextlib.contextmanager
def started(method, target, *args):
    """A process that runs `target`. It must end without an error before the block ends."""
    process = multiprocessing.get_context(method).Process(target=target, args=args)
    process.start()
    try:
        yield process
        process.join()
        assert process.exitcode == 0
    finally:
        process.kill()
        process.join()
        process.close()


def copied_nbytes(before):
    return (byre.stats() - before).bytes_copied


def used_by_worker(x):
    """Whether x is as sent, the bytes that this process has copied, and x with other elements."""
    is_as_sent = np.array_equal(x, np.arange(N)) and x.flags.writeable and byre.is_lazy(x)
    kept = byre.copy(x)
    x[PAGE] = -1
    return is_as_sent and kept[PAGE] == PAGE, copied_nbytes(byre.Stats(0, 0, 0, 0, 0)), x


@pytest.mark.parametrize("method", METHODS)
def test_executor_copies_no_bytes_of_arrays_in_pages(method):
    source = ramp()
    before = byre.stats()
    with ProcessPoolExecutor(1, multiprocessing.get_context(method)) as executor:
        future = executor.submit(used_by_worker, source)
        is_as_sent, nbytes_of_worker, result = future.result()
    assert is_as_sent and nbytes_of_worker == copied_nbytes(before) == 0
    result[0] = source[1] = -2
    assert result[:3].tolist() == [-2, 1, 2] and source[:3].tolist() == [0, -2, 2]
    assert result[PAGE] == -1 and source[PAGE] == PAGE and np.array_equal(result[PAGE + 1 :], source[PAGE + 1 :])
    assert result.flags.writeable and byre.is_lazy(result)


def put(queue, x):
    x[0] = 5
    queue.put(x)


@pytest.mark.parametrize("method", METHODS)
def test_array_of_a_queue_outlives_the_process_that_put_it(method):
    source = ramp()
    queue = multiprocessing.get_context(method).Queue()
    with started(method, put, queue, source):
        result = queue.get()
    queue.close()
    queue.join_thread()
    assert result[:2].tolist() == [5, 1] and source[0] == 0 and np.array_equal(result[1:], source[1:])


def write_and_send_on(connection, generation, method):
    with connection:
        x = connection.recv()
        x[generation * PAGE] = -generation
        if generation < 3:
            here, there = byre.Pipe()
            with here, there, started(method, write_and_send_on, there, generation + 1, method):
                here.send(x)
                x = here.recv()
        assert copied_nbytes(byre.Stats(0, 0, 0, 0, 0)) <= 100 * mmap.PAGESIZE < x.nbytes
        connection.send(x)


@pytest.mark.parametrize("method", METHODS)
def test_third_generation_of_processes_sends_back_what_all_wrote(method):
    source = ramp()
    here, there = byre.Pipe()
    with here, there, started(method, write_and_send_on, there, 1, method):
        here.send(source)
        source[5] = 9
        result = here.recv()
    expected = np.arange(N)
    expected[: 4 * PAGE : PAGE] = [0, -1, -2, -3]
    assert np.array_equal(result, expected)


def sent(x):
    """What the other end of a pipe receives, and the numbers of lazy copies and of copied bytes."""
    here, there = byre.Pipe()
    with here, there:
        before = byre.stats()
        here.send(x)
        received = there.recv()
        counted = byre.stats() - before
    return received, counted.lazy_copies, counted.bytes_copied
