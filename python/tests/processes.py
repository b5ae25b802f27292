# SPDX-License-Identifier: BSL-1.0
"""Fixtures and helpers of the tests with several processes."""
import contextlib
import gc
import multiprocessing
import os
import resource

import byre
import pytest
from support import pickled, ramp, used

METHODS = ["fork", "spawn", "forkserver"]
PAGE = 512  # elements of float64


@pytest.fixture(scope="module", autouse=True)
def no_descriptor_is_left():
    """The fork server, the resource tracker and the thread of offers have descriptors of their own."""
    pickled(ramp())
    multiprocessing.get_context("forkserver").Process(target=len, args=((),)).start()
    for child in multiprocessing.active_children():
        child.join()
    gc.collect()
    before = used()
    yield
    gc.collect()
    after = byre.collect().remaining, used()
    assert after == (0, before), f"{after}, before {before}"


@pytest.fixture(autouse=True)
def no_earlier_view_is_counted():
    gc.collect()
    byre.collect()


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


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def limit_descriptors(most):
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
