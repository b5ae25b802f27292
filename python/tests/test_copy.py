# SPDX-License-Identifier: BSL-1.0
"""Single arrays: copies, moves to pages, threads, and arrays that NumPy allocates in pages."""
import contextlib
import ctypes
import mmap
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import byre
import numpy as np
import pytest
from byre import _byre
from support import DENSE, VIEWS, N, Tagged, copied, ramp, refused, same, tagged, used


def strides_of(x):
    """The strides of axes with more than one element."""
    return [stride for stride, n in zip(x.strides, x.shape) if n > 1]


@pytest.mark.parametrize("name", VIEWS)
def test_copy_equals_numpys_copy_and_writes_are_independent(name):
    source = VIEWS[name](ramp())
    expected = source.copy(order="K")
    copy, *counts = copied(source)
    assert counts == ([1, 0] if name in DENSE else [0, source.nbytes])
    assert same(copy, expected) and strides_of(copy) == strides_of(expected)
    is_view = name in DENSE and type(copy) is not np.ndarray
    assert copy.flags.writeable and copy.flags.aligned and copy.flags.owndata == (copy.base is None) == (not is_view)
    assert getattr(copy, "tag", None) == getattr(source, "tag", None)
    assert copied(source, lazy=False)[1:] == (0, source.nbytes)
    with refused(byre.CopyRefused) if counts[1] else contextlib.nullcontext():
        byre.copy(source, lazy=True)
    if source.flags.writeable and source.ndim:
        source.reshape(-1)[:1] = np.zeros(1, source.dtype)
        source[-1:] = source[:1]
    assert copy.tobytes() == expected.tobytes()
    after = source.copy()
    copy[...] = copy[-1:] if copy.ndim else 0
    assert source.tobytes() == after.tobytes()


@pytest.mark.parametrize("name", VIEWS)
def test_to_pages_gives_an_equal_array_in_pages(name):
    source = VIEWS[name](np.arange(N, dtype=float))
    expected = source.copy(order="K")
    moved = byre.to_pages(source)
    assert same(moved, expected) and moved.strides == (source if name in DENSE else expected).strides
    assert getattr(moved, "tag", None) == getattr(source, "tag", None)
    assert "not in pages" not in byre.explain(moved)
    assert byre.is_lazy(moved) == (moved.nbytes >= 1 << 16 or not moved.size)
    assert moved.flags.writeable and not np.shares_memory(moved, source)
    assert byre.to_pages(moved) is moved


def test_copy_of_an_object_array_refers_to_the_same_objects():
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
    assert type(copy) is np.ma.MaskedArray and copy[0] == 0 and not copy.mask[2] and copy.mask[3]


def test_no_copies_and_pages_blocks_nest_and_are_per_thread():
    outside = np.zeros(10)
    with byre.no_copies(), byre.pages(), ThreadPoolExecutor() as pool:
        with pytest.raises(KeyError), byre.no_copies(), byre.pages(min_nbytes=8 * N + 1):
            assert not byre.is_lazy(np.ones(N))
            raise KeyError
        assert byre.is_lazy(np.ones(N))
        with refused(byre.CopyRefused):
            byre.copy(outside)
        byre.copy(ramp())
        pool.submit(byre.copy, outside).result()
        assert not byre.is_lazy(pool.submit(np.ones, N).result())
    assert not byre.is_lazy(np.ones(N))
    byre.copy(outside)
    with refused(byre.CopyRefused, "lazy=False"), byre.no_copies():
        byre.copy(ramp(), lazy=False)
    for wrong in (-1, 1.5, "a"):
        with refused(ValueError, f"min_nbytes is {wrong!r}", "at least 0"), byre.pages(min_nbytes=wrong):
            pass
    with byre.pages(min_nbytes=2**70):
        assert not byre.is_lazy(np.ones(N))


def test_partial_copy_of_a_written_block_is_not_lazy():
    source = ramp()
    byre.copy(source)
    source[: N // 4] += 1
    with refused(byre.CopyRefused, "copy the whole block"):
        byre.copy(source[: N - 1], lazy=True)
    for part in ([source[::3], source[1::3]], source.view("u1")[: 8 * N - 1]):
        with refused(byre.CopyRefused, "copy the whole block"):
            byre.copy(part, lazy=True)
    assert not byre.is_lazy(source[: N - 1]) and "copy the whole block" in byre.explain(source[: N - 1])
    part, *counts = copied(source[: N - 1])
    assert counts == [0, part.nbytes] and same(part, source[:-1])
    assert copied(source, lazy=True)[1:] == (1, source.nbytes // 4)


@pytest.mark.parametrize("x", ["text", b"bytes", 3, 2.5, None, np.float64(1), len, int, np])
@pytest.mark.parametrize("function", [byre.copy, byre.is_lazy, byre.explain, byre.to_pages])
def test_unsupported_type_is_rejected_and_named(function, x):
    with refused(TypeError, function.__name__, type(x).__name__, "Pass an array") as raised:
        function(x)
    assert isinstance(raised.value, byre.Error)


def content_of(number):
    """A content that contains only its number. Twenty in a row differ only in the number and in their memory."""
    dtype, length = [("f8", N), ("i4", 3), ("u1", N)][number // 20]
    array = (byre.full if number % 4 < 2 else np.full)(length, number, dtype)
    return tagged(array) if number >= 40 else array


def test_threads_get_the_content_of_one_set_while_others_set():
    shared = byre.Shared(content_of(0))

    def set_all(first):
        for number in range(first, 60, 2):
            content = content_of(number)
            shared.set(content)
            content[...] = 255

    def get_until_all_are_set():
        is_last = False
        while not is_last:
            is_last = all(setter.done() for setter in setters)
            content = shared.get()
            number = int(content[0])
            assert same(content, content_of(number))
            content[...] = 254
        return number

    with ThreadPoolExecutor(4) as pool:
        setters = [pool.submit(set_all, first) for first in (1, 2)]
        getters = [pool.submit(get_until_all_are_set) for _ in range(2)]
    assert [setter.result() for setter in setters] == [None, None]
    assert getters[0].result() == getters[1].result() in (58, 59)


def test_shared_content_of_64_kib_is_in_pages_and_copied_lazily():
    for source in (np.arange(N, dtype=float), ramp(), {"a": np.zeros(N), "small": np.ones(3)}):
        shared = byre.Shared(source)
        before = byre.stats()
        contents = [shared.get(), shared.get()]
        line = sys._getframe().f_lineno - 1
        assert (byre.stats() - before)[:3] == (2, 0, 0)
    assert f"{__file__}:{line}" in byre.explain(contents[0])
    shared.set(np.ones(3))
    assert "not in pages" in byre.explain(shared.get())


def test_rejected_set_leaves_the_shared_content_unchanged():
    shared = byre.Shared(np.arange(3))
    for wrong in ("text", 3, None, len):
        with refused(byre.ArgumentError, "Shared.set: unsupported type", type(wrong).__name__, "Pass an array"):
            shared.set(wrong)
        with refused(byre.ArgumentError, "Shared: unsupported type", type(wrong).__name__):
            byre.Shared(wrong)
    with refused(byre.CopyRefused), byre.no_copies():
        shared.set(np.ones(N))
    assert shared.get().tolist() == [0, 1, 2]


MAKERS = {
    "array": lambda m: [m.array([[1, 2], [3, 4]], "f4"), m.array(np.asfortranarray(np.ones((300, 300))))],
    "array with options": lambda m: [m.array(tagged(np.ones((2, 3))), order="F", subok=True), m.array(3, ndmin=2)],
    "zeros": lambda m: [m.zeros(3), m.zeros((300, 300), order="F")],
    "ones": lambda m: [m.ones(3, "i8"), m.ones((300, 300), np.float32, "F")],
    "full": lambda m: [m.full(3, 2j), m.full((300, 300), [7] * 300, "i2", "F")],
    "empty": lambda m: [m.empty(0, "S3"), m.empty((300, 300), "?", "F")],
}


@pytest.mark.parametrize("name", MAKERS)
def test_created_arrays_equal_numpys_and_large_ones_copy_lazily(name):
    for made, expected in zip(MAKERS[name](byre), MAKERS[name](np)):
        if name == "empty":
            made[...] = expected[...] = 1
        assert same(made, expected) and made.strides == expected.strides
        assert made.flags.owndata == expected.flags.owndata
        assert byre.is_lazy(made) == (made.size == 300 * 300 or not made.size)
    maker = getattr(byre, name.split()[0])
    assert pickle.loads(pickle.dumps(maker)) is maker


def test_copy_leaves_no_block_if_the_array_class_raises(monkeypatch):
    source, before = tagged(ramp()), used()
    monkeypatch.setattr(Tagged, "__array_finalize__", lambda self, source: 1 / 0)
    for _ in range(9):
        with pytest.raises(ZeroDivisionError):
            byre.copy(source)
        with byre.pages(), pytest.raises(ZeroDivisionError):
            np.copy(source, subok=True)
    copy = byre.copy(source.view(np.ndarray))
    del source, copy
    assert used()[0] == before[0] - 1


def test_copy_leaves_no_block_if_python_objects_lack_memory():
    testcapi = pytest.importorskip("_testcapi")
    source, failures = ramp(), 0
    kept, before = byre.copy(source), used()
    arguments = source.__array_interface__["data"][0], source, True, b"file", 1
    for number in range(9):
        testcapi.set_nomemory(number, number + 1)
        try:
            _byre.clone(*arguments)  # all of byre.copy() would also run code in which NumPy crashes without memory
        except MemoryError:
            failures += 1
        finally:
            testcapi.remove_mem_hooks()
    assert failures and used() == before and np.array_equal(kept, source)


def test_explain_counts_sharing_blocks_and_names_copying_lines():
    source = ramp()
    copies = [byre.copy(source)]
    copies.append(byre.copy(source))
    last = sys._getframe().f_lineno - 1
    lines = [f"{__file__}:{last - 1}", f"{__file__}:{last}"]
    source[0] = -1
    shared = f" {mmap.PAGESIZE} are in pages of its own, and the rest is shared with 2 blocks (copied at "
    assert f"{shared}{', '.join(lines)}): byre.copy is lazy." in byre.explain(source)
    shared_nbytes = byre.memory().shared_nbytes
    del copies[0]
    assert f"shared with 1 block (copied at {lines[1]})" in byre.explain(source)
    assert byre.memory().shared_nbytes == shared_nbytes - source.nbytes
    source[:] = -1
    copies.append(byre.copy(source, lazy=True))
    assert "shared with 1 block" in byre.explain(source) and "shared" not in byre.explain(copies[0])
    del source, copies[1]
    assert "shared" not in byre.explain(copies[0])


def test_numpy_memory_handler_works_without_interpreter_lock():
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

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(allocate, range(4)))
    assert calloc(context, 1 << 62, 16) is None and free(context, None, 5) is None
    assert byre.memory().blocks == blocks
