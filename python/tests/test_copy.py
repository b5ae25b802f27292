# SPDX-License-Identifier: BSL-1.0
"""Copies of single arrays, and arrays that NumPy makes in pages."""
import gc
import sys
import threading

import byre
import numpy as np
import pytest
from byre import _byre
from support import DENSE, VIEWS, N, Counted, copied, ramp, refused, same, used


AT_ONCE = {
    "outside of pages": lambda: np.arange(N),
    "small": lambda: byre.array(np.arange(10)),
    "small part of a block": lambda: byre.zeros((1024, 1024))[3, :10],
    "read-only outside": lambda: np.broadcast_to(np.arange(3), (2, 3)),
    "sliding windows": lambda: np.lib.stride_tricks.sliding_window_view(ramp()[:1000], 10),
    "no dimension": lambda: np.array(3.5),
    "fortran order": lambda: np.asfortranarray(np.arange(6).reshape(2, 3)),
}


@pytest.mark.parametrize("name", [*VIEWS, *AT_ONCE])
def test_copy_is_numpys_and_no_side_sees_the_others_writes(name):
    source = AT_ONCE[name]() if name in AT_ONCE else VIEWS[name](ramp())
    expected = source.copy(order="K")
    copy, *counts = copied(source)
    assert same(copy, expected)
    assert [np.take(x.strides, np.flatnonzero(np.array(x.shape) != 1)).tolist() for x in (copy, expected)]
    assert copy.flags.writeable and copy.flags.aligned
    assert copy.flags.owndata == (copy.base is None) == (type(copy) is np.ndarray or name not in DENSE)
    assert getattr(copy, "tag", None) == getattr(source, "tag", None)
    assert counts == ([1, 0] if name in DENSE else [0, source.nbytes])
    if source.flags.writeable and source.ndim:
        source.reshape(-1)[:1] = np.zeros(1, source.dtype)
        source[-1:] = source[:1]
    assert copy.tobytes() == expected.tobytes()
    after = source.copy()
    copy[...] = copy[-1:] if copy.ndim else 0
    assert source.tobytes() == after.tobytes()


def test_copies_of_copies_each_keep_their_own_values():
    arrays = [ramp()]
    for number in range(20):
        arrays.append(byre.copy(arrays[-1]))
        arrays[-1][number] = -1
    for number, array in enumerate(arrays):
        assert (array[:number] == -1).all()
        assert (array[number:] == np.arange(number, N)).all()


def test_copy_outlives_its_source_and_source_its_copy():
    source = ramp()
    copy = byre.copy(source)
    del source
    copy[0] = 5
    second = byre.copy(copy)
    del copy
    assert second[0] == 5 and (second[1:] == np.arange(1, N)).all()


def test_array_of_objects_shares_its_objects_with_the_copy():
    source = np.array([{}, []], object)
    copy = byre.copy(source)
    assert copy is not source and copy[0] is source[0] and copy[1] is source[1]
    with byre.pages(0):
        records = np.array([({}, 1), ([], 2)], "O,i4")
    references = sys.getrefcount(records[1]["f0"])
    copy, part = byre.copy([records, records[1:]])
    added = sys.getrefcount(records[1]["f0"]) - references
    assert added == 2 and copy[1]["f0"] is records[1]["f0"] and part["f1"].tolist() == [2]


def test_masked_array_is_copied_with_its_mask():
    source = np.ma.masked_array(ramp(), mask=np.arange(N) % 2)
    copy = byre.copy(source)
    source[0] = 7
    source.mask[2] = True
    assert type(copy) is np.ma.MaskedArray
    assert copy[0] == 0 and not copy.mask[2] and copy.mask[3]


def test_empty_array_is_copied_even_if_copies_are_refused():
    assert same(byre.copy(np.empty((0, 3), "i2"), lazy=True), np.empty((0, 3), "i2"))


@pytest.mark.parametrize(
    "source, words",
    [
        (np.zeros(10), ["the array of 80 bytes", "not in pages", "byre.to_pages()"]),
        (np.broadcast_to(ramp(), (2, N)), ["elements are not dense", "lazy=None"]),
        (np.array([{}], object), ["holds Python objects", "lazy=None"]),
        (np.ma.masked_array(ramp()), ["a copy() of its own"]),
        (byre.zeros((1024, 1024))[3, :10], ["80"]),
    ],
)
def test_lazy_true_refuses_what_would_be_copied_at_once(source, words):
    with Counted() as counted:
        with refused(byre.CopyRefused, *words):
            byre.copy(source, lazy=True)
        with byre.no_copies(), refused(RuntimeError, *words):
            byre.copy(source)
    assert counted.bytes_copied == 0
    assert not byre.is_lazy(source)


def test_lazy_false_copies_at_once():
    assert copied(ramp(), lazy=False)[1:] == (0, 8 * N)


def test_no_copies_and_pages_nest_and_hold_for_their_own_thread_alone():
    outside, found = np.zeros(10), []
    with byre.no_copies(), byre.pages():
        with pytest.raises(KeyError), byre.no_copies(), byre.pages(min_nbytes=8 * N + 1):
            assert not byre.is_lazy(np.ones(N))
            raise KeyError
        assert byre.is_lazy(np.ones(N))
        with refused(byre.CopyRefused):
            byre.copy(outside)
        byre.copy(ramp())
        thread = threading.Thread(target=lambda: found.extend([byre.copy(outside), np.ones(N)]))
        thread.start()
        thread.join()
    assert len(found) == 2 and not byre.is_lazy(found[1]) and not byre.is_lazy(np.ones(N))
    byre.copy(outside)
    with refused(ValueError, "min_nbytes is -1", "at least 0"), byre.pages(min_nbytes=-1):
        pass


@pytest.mark.parametrize("x", ["text", b"bytes", 3, 2.5, None, np.float64(1), len, int, np])
@pytest.mark.parametrize("function", [byre.copy, byre.is_lazy, byre.explain, byre.to_pages])
def test_unsupported_type_is_refused_by_name(function, x):
    with refused(TypeError, function.__name__, type(x).__name__, "Pass an array"):
        function(x)
    with pytest.raises(byre.Error):
        function(x)


MAKERS = {
    "array": (lambda m: m.array([[1, 2], [3, 4]], "f4"), lambda m: m.array(np.asfortranarray(np.ones((300, 300))))),
    "zeros": (lambda m: m.zeros(3), lambda m: m.zeros((300, 300), order="F")),
    "ones": (lambda m: m.ones(3, "i8"), lambda m: m.ones((300, 300), np.float32)),
    "full": (lambda m: m.full(3, 2j), lambda m: m.full((300, 300), [7] * 300)),
    "empty": (lambda m: m.empty(0, "S3"), lambda m: m.empty((300, 300), "?") | True),
}


@pytest.mark.parametrize("name", MAKERS)
def test_made_arrays_equal_numpys_and_large_ones_are_lazy(name):
    small, large = MAKERS[name]
    for make in (small, large):
        assert same(make(byre), make(np))
        assert make(byre).strides == make(np).strides
    if name != "empty":
        assert byre.is_lazy(large(byre)) and large(byre).flags.owndata


class Tagging(np.ndarray):
    """An array whose creation may start a garbage collection."""


class Cycle:
    """Its finalizer makes an array, and more garbage."""

    found = []

    def __init__(self):
        self.cycle = self

    def __del__(self):
        if gc.get_threshold()[0] == 1:
            Cycle.found.append((np.full(9, 7.0), [[] for _ in range(len(Cycle.found) % 9)]))
            Cycle()


def test_array_of_a_finalizer_gets_memory_of_its_own():
    source, threshold = ramp().view(Tagging), gc.get_threshold()
    for _ in range(20):
        Cycle()
        gc.set_threshold(1)
        copy = byre.copy(source)
        gc.set_threshold(*threshold)
        assert np.array_equal(copy, source) and all((x == 7).all() for x, _ in Cycle.found)
        Cycle.found.clear()


class Refusing(np.ndarray):
    def __array_finalize__(self, source):
        if type(source) is Refusing:
            raise ValueError("no copies")


def test_array_class_that_raises_leaves_no_block():
    source, before = ramp().view(Refusing), used()
    for _ in range(9):
        with refused(ValueError, "no copies"):
            byre.copy(source)
        with byre.pages(), refused(ValueError, "no copies"):
            np.copy(source, subok=True)
    copy = byre.copy(source.view(np.ndarray))
    del source, copy
    assert used()[0] == before[0] - 1


def test_copy_without_memory_for_objects_leaves_no_block():
    testcapi = pytest.importorskip("_testcapi")
    source = ramp()
    kept, before = byre.copy(source), used()
    arguments = source.__array_interface__["data"][0], source, "file", 1
    for number in range(1, 30):
        testcapi.set_nomemory(number, number + 1)
        try:
            _byre.clone(*arguments)
        except MemoryError:
            pass
        finally:
            testcapi.remove_mem_hooks()
    assert used() == before and np.array_equal(kept, source)
