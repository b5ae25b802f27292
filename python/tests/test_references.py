# SPDX-License-Identifier: BSL-1.0
"""References that memory held are dropped by a thread that may drop them."""
import threading
import weakref

import byre
import pytest
from byre import _byre


class Object:
    pass


def released():
    """An object whose last reference a thread without the interpreter's lock gave up."""
    thing = Object()
    _byre._release_on_a_thread(thing)
    return weakref.ref(thing)


def kept():
    """The same of one that still is: the main thread may drop some before it waits."""
    for _ in range(1000):
        weak = released()
        if weak() is not None:
            return weak
    raise AssertionError("each is dropped at once")


def on_another_thread(action):
    """What it returned. The main thread, which drops what is left to drop, waits in C meanwhile."""
    answers = []

    def run():
        try:
            answers.append((action(), None))
        except BaseException as error:
            answers.append((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    answer, error = answers[0]
    if error is not None:
        raise error
    return answer


@pytest.mark.parametrize(
    "operation",
    [lambda x: x + 1, lambda x: x.copy(), lambda x: x.__setitem__(..., 1), lambda x: x.tolist(), lambda x: byre.zeros(1 << 20)],
)
def test_the_next_operation_drops_them(operation):
    x = byre.zeros(3)

    def action():
        weak, other = kept(), released()
        operation(x)
        return weak() is None and other() is None

    assert on_another_thread(action)


def test_the_end_of_an_array_drops_them():
    def action():
        x = byre.zeros(3)
        weak = kept()
        del x
        return weak() is None

    assert on_another_thread(action)


def test_an_operation_that_is_refused_drops_them():
    x = byre.zeros(3)

    def action():
        weak = kept()
        with pytest.raises(ValueError):
            x.reshape(2)
        return weak() is None

    assert on_another_thread(action)


def test_the_main_thread_drops_them_without_an_operation():
    for _ in range(3):
        weak = released()
        for _ in range(10_000_000):
            if weak() is None:
                break
        assert weak() is None


def test_what_is_dropped_may_use_arrays():
    x = byre.zeros(3)

    class Adds:
        def __del__(self):
            x.__iadd__(1)

    def action():
        _byre._release_on_a_thread(Adds())
        x.copy()
        return x.tolist()

    assert on_another_thread(action) == [1, 1, 1]
