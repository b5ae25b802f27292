# SPDX-License-Identifier: BSL-1.0
import asyncio
import copy
import threading

import byre
import numpy as np
import pytest
from support import refused, same, values


def counted(action):
    before = byre.stats()
    kept = action()
    difference = byre.stats() - before
    del kept
    return difference


@pytest.mark.parametrize(
    "clone",
    [byre.copy, byre.array, copy.copy, copy.deepcopy, lambda x: x.copy(), lambda x: x.T.copy(), lambda x: x.reshape(-1, 2), lambda x: x.ravel(), lambda x: x.astype(x.dtype)],
)
def test_copies_copy_no_byte(clone):
    x = byre.zeros((100, 200))
    counts = counted(lambda: clone(x))
    assert (counts.lazy_clones, counts.copies, counts.bytes_copied) == (1, 0, 0)


def test_the_first_write_copies_and_the_last_owner_keeps():
    x = byre.zeros((100, 200))
    y = x.copy()

    def write(array):
        array[0, 0] = 1

    assert counted(lambda: write(x)).bytes_copied == 160_000
    counts = counted(lambda: write(y))
    assert (counts.copies, counts.bytes_copied) == (0, 0)
    z = y.copy()
    del y
    assert counted(lambda: write(z)).copies == 0


def test_reading_copies_no_byte():
    x = byre.zeros((100, 200))
    y = x.copy()
    counts = counted(lambda: (x + 1, x.sum(), x[0], x[0, 0], repr(x), x.tolist(), x @ x.T, byre.explain(x), x == y))
    assert (counts.copies, counts.lazy_clones) == (0, 0)
    assert "shared by 2 owners: a write copies them" in byre.explain(x)


def test_the_parts_of_counters_are_named_in_their_text():
    text = repr(byre.stats())
    for name in ("lazy_clones", "copies", "steals", "waits", "bytes_copied", "bytes_not_copied", "live_bytes", "pooled_bytes", "overlays", "pinned_bytes"):
        assert f"{name}={getattr(byre.stats(), name)}" in text
    before = byre.stats()
    assert before == before and not before == byre.stats() - before
    x = byre.zeros(1 << 20, "uint8")
    assert (byre.stats() - before).live_bytes >= 1 << 20
    y = x.copy()
    assert (byre.stats() - before).bytes_not_copied == 1 << 20


def shared():
    x = byre.array([[1, 2], [3, 4]])
    return x, x.copy()


WRITES = {
    "a write": lambda x: x.__setitem__(..., 7),
    "a write to an element": lambda x: x.__setitem__((0, 0), byre.array(7)),
    "+=": lambda x: x.__iadd__(1),
    "-=": lambda x: x.__isub__(x),
    "*=": lambda x: x.__imul__([1, 2]),
    "/=": lambda x: x.__itruediv__(1),
}


@pytest.mark.parametrize("text", WRITES)
def test_a_write_to_shared_data_is_refused_within_no_copies(text):
    x, y = shared()
    with byre.no_copies():
        with refused(byre.CopyRefused, text.split(" to ")[0], "would copy 32 bytes", "other owners share", "byre.no_copies()"):
            WRITES[text](x)
        assert same(x, [[1, 2], [3, 4]])
        del y
        if text != "/=":
            WRITES[text](x)


def test_a_write_of_no_elements_is_none():
    x, y = shared()
    with byre.no_copies():
        x[0:0] = 5
    assert counted(lambda: x.__setitem__(slice(0, 0), 5)).copies == 0


def test_writes_in_pages_are_allowed_within_no_copies():
    x = byre.zeros(1 << 20, "uint8", pages=True)
    y = x.copy()
    with byre.no_copies():
        y[0] = 1
    assert x[0] == 0 and y[0] == 1
    small = byre.zeros(1 << 10, "uint8", pages=True)
    clone = small.copy()
    with byre.no_copies():
        with refused(byre.CopyRefused, "share"):
            small[0] = 1
    assert clone[0] == 0


def test_copies_that_strides_cannot_say_are_refused_within_no_copies():
    x = byre.array(np.arange(6).reshape(2, 3))
    with byre.no_copies():
        for reshape in (lambda: x.T.reshape(6), lambda: x.T.ravel(), lambda: x.T.flatten(), lambda: x[:, :2].reshape(-1)):
            with refused(byre.CopyRefused, "strides cannot say it", "byre.no_copies()"):
                reshape()
        assert x.reshape(3, 2).shape == x.T.reshape(3, 2, 1).shape[:2] == x.ravel().reshape(3, 2).shape
        with refused(byre.CopyRefused, "copy", "a broadcast repeats them"):
            byre.broadcast_to(x, (2, 2, 3)).copy()
        with refused(byre.CopyRefused, "+=", "written while it is read"):
            x[1:] += x[:1]  # the same elements are not read
            x[0, 1:] += x[0, :2]
        with refused(byre.CopyRefused, "a write", "written while it is read"):
            x[0, 1:] = x[0, :2]
        with refused(byre.ShapeError, "reshape", "5"):
            x.reshape(5)


def test_what_makes_new_arrays_is_allowed_within_no_copies():
    x, y = shared()
    with byre.no_copies():
        for make in (lambda: byre.array(np.arange(3)), lambda: x + y, lambda: x.astype("float32"), lambda: byre.flip(x), x.copy, lambda: repr(x)):
            make()


def test_blocks_nest_and_end():
    x, y = shared()
    block = byre.no_copies()
    with block:
        with block:
            pass
        with byre.no_copies() as inner:
            assert isinstance(inner, byre.no_copies)
        with refused(byre.CopyRefused):
            x[0] = 1
    x[0] = 1
    with pytest.raises(KeyError):
        with byre.no_copies():
            raise KeyError
    y = x.copy()
    x[0] = 2
    with refused(byre.InvalidArgument, "never began", "with byre.no_copies()"):
        block.__exit__(None, None, None)


def test_other_threads_may_copy():
    x, y = shared()
    with byre.no_copies():
        thread = threading.Thread(target=x.__setitem__, args=(0, 5))
        thread.start()
        thread.join()
    assert x[0].tolist() == [5, 5] and y[0].tolist() == [1, 2]


def test_other_tasks_may_copy():
    async def refuses(entered, left):
        x, y = shared()
        with byre.no_copies():
            entered.set()
            await left.wait()
            with refused(byre.CopyRefused):
                x[0] = 5

    async def copies(entered, left):
        await entered.wait()
        x, y = shared()
        x[0] = 5
        left.set()

    async def both():
        entered, left = asyncio.Event(), asyncio.Event()
        await asyncio.gather(refuses(entered, left), copies(entered, left))

    asyncio.run(both())
