# SPDX-License-Identifier: BSL-1.0
"""Any threads may use any arrays; what they see is whole."""
import random
import sys
import threading

import byre
import numpy as np
import pytest
from byre import _byre
from support import same, values

SIZES = [10, 100_000]  # with the interpreter's lock held, and without


@pytest.fixture(autouse=True)
def switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def run_at_once(*actions):
    """Each on a thread of its own; raises what the first of them raised."""
    errors = []
    barrier = threading.Barrier(len(actions))

    def run(action):
        try:
            barrier.wait()
            action()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def number_in_all(array):
    elements = values(array)
    assert (elements == elements.flat[0]).all(), "a write was seen in part"
    return elements.flat[0]


@pytest.mark.parametrize("size", SIZES)
def test_clones_of_an_array_that_is_written_are_whole(size):
    x = byre.zeros(size, "int64")

    def write(number):
        for step in range(100):
            x[...] = number * 1000 + step

    def clone(number):
        mine = x.copy()
        for step in range(100):
            number_in_all(mine)
            mine[...] = number
            assert number_in_all(mine) == number
            mine = x.copy() if step % 2 else mine.copy()

    run_at_once(*[lambda n=n: write(n) for n in range(2)], *[lambda n=n: clone(n) for n in range(4)])
    assert number_in_all(x) % 1000 == 99


@pytest.mark.parametrize("size", SIZES)
def test_operations_on_an_array_that_is_written_see_it_whole(size):
    x = byre.zeros((2, size), "int64")
    ends = byre.zeros(1, "int64")

    def write():
        for step in range(100):
            x.__iadd__(1) if step % 2 else x.__setitem__(..., step)

    def read():
        for _ in range(50):
            number_in_all(x + 0)
            number_in_all(x.T)
            number_in_all(x.reshape(-1))
            number_in_all(x.T.reshape(-1))
            number_in_all(byre.where(x == x, x, ends))
            number_in_all(byre.concatenate([x, x]))
            number_in_all(x.astype("float64"))
            assert (x.sum().item() % (2 * size)) == 0
            assert len(set(np.frombuffer(x.tobytes(), "int64"))) == 1
            byre.explain(x)

    run_at_once(write, read, read)


@pytest.mark.parametrize("size", SIZES)
def test_of_two_writes_at_once_one_is_last(size):
    x = byre.zeros(size, "int64")
    for _ in range(50):
        run_at_once(lambda: x.__setitem__(..., 1), lambda: x.__setitem__(..., 2))
        assert number_in_all(x) in (1, 2)


@pytest.mark.parametrize("size", SIZES)
def test_additions_in_place_are_not_lost(size):
    x = byre.zeros(size, "int64")
    clones = []

    def add():
        for _ in range(100):
            x.__iadd__(1)
            clones.append(x.copy())

    run_at_once(add, add, add)
    assert number_in_all(x) == 300
    assert max(number_in_all(clone) for clone in clones) == 300


def test_two_arrays_that_are_written_from_each_other_do_not_lock_up():
    arrays = [byre.zeros(20_000, "int64") for _ in range(4)]

    def mix(seed):
        chance = random.Random(seed)
        for _ in range(200):
            first, second = chance.choices(arrays, k=2)
            first.__iadd__(second) if chance.random() < 0.5 else first.__setitem__(..., second)

    run_at_once(*[lambda n=n: mix(n) for n in range(4)])
    for array in arrays:
        number_in_all(array)


@pytest.mark.parametrize("size", SIZES)
def test_operands_that_are_written_are_read_whole(size):
    source = byre.zeros(size, "int64")
    ends = []

    def write():
        step = 0
        while not ends:
            step += 1
            source[...] = step

    def read():
        target = byre.zeros(size, "int64")
        try:
            for _ in range(100):
                target[...] = source
                number_in_all(target)
                target += source
                number_in_all(target)
        finally:
            ends.append(True)

    run_at_once(write, read)


def test_small_operations_wait_for_large_ones_and_keep_nothing_locked():
    large = byre.zeros(200_000, "int64")
    smalls = [byre.zeros(1, "int64") for _ in range(16)]
    ends = []

    def write_large():
        while not ends:
            large.__iadd__(1)

    def write_small():
        try:
            for _ in range(30):
                for small in smalls:
                    small[...] = large[:1]
                    small += large[1:2]
        finally:
            ends.append(True)

    run_at_once(write_large, write_small)
    for small in smalls:
        small[...] = 7
        assert number_in_all(small) == 7


def test_random_programs_of_threads_keep_arrays_whole(chance):
    arrays = [byre.zeros(chance.choice([7, 9000, 30_000]), "int64") for _ in range(6)]

    def program(seed):
        mine = random.Random(seed)
        for _ in range(300):
            at = mine.randrange(len(arrays))
            x = arrays[at]
            what = mine.randrange(5)
            if what == 0:
                x[...] = mine.randrange(100)
            elif what == 1:
                arrays[at] = x.copy()
            elif what == 2:
                x += 1
            elif what == 3:
                number_in_all(x)
            else:
                arrays[at] = byre.array(x, pages=mine.random() < 0.3)

    run_at_once(*[lambda seed=chance.random(): program(seed) for _ in range(4)])


def releases(action):
    before = _byre._gil_releases()
    action()
    return _byre._gil_releases() - before


ELEMENTS = (64 << 10) // 8  # of the largest that is small
OPERATIONS = {
    "+": lambda x: x + x,
    "+ number": lambda x: x + 1,
    "number +": lambda x: 1 + x,
    "-": lambda x: -x,
    "+=": lambda x: x.__iadd__(x),
    "+= number": lambda x: x.__iadd__(1),
    "[...] =": lambda x: x.__setitem__(..., 1),
    "sum": lambda x: x.sum(),
    "exp": byre.exp,
    "flip": byre.flip,
    "astype": lambda x: x.astype("float32"),
    "tolist": lambda x: x.tolist(),
    "tobytes": lambda x: x.tobytes(),
    "concatenate": lambda x: byre.concatenate([x]),
    "zeros": lambda x: byre.zeros(x.shape),
    "zeros in pages": lambda x: byre.zeros(x.shape, pages=True),
    "empty": lambda x: byre.empty(x.shape),
    "full": lambda x: byre.full(x.shape, 1.0),
    "array": lambda x, source=np.zeros(2 * ELEMENTS): byre.array(source[: x.size]),
    "transposed reshape": lambda x: x.reshape(2, -1).T.reshape(-1),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_large_operations_let_other_threads_run_and_small_ones_do_not(name):
    small, large = byre.zeros(ELEMENTS), byre.zeros(ELEMENTS + 2)
    assert releases(lambda: OPERATIONS[name](small)) == 0
    assert releases(lambda: OPERATIONS[name](large)) == 1


def test_a_broadcast_is_as_large_as_its_result():
    row = byre.zeros(ELEMENTS // 64)
    few, many = byre.zeros((64, 1)), byre.zeros((65, 1))
    assert releases(lambda: row + few) == releases(lambda: few + row) == 0
    assert releases(lambda: row + many) == releases(lambda: many + row) == 1
    wide = byre.zeros(1, "int8")
    assert releases(lambda: wide + byre.zeros(ELEMENTS, "float64")) == 0


def test_sizes_that_no_memory_has_are_large():
    few = byre.zeros((1, 1))

    def add():
        with pytest.raises(ValueError):
            byre.broadcast_to(few, (1, 1 << 40)) + byre.broadcast_to(few, (1 << 40, 1, 1))

    def make():
        with pytest.raises(ValueError):
            byre.zeros((1 << 40, 1 << 40))

    assert releases(add) == releases(make) == 1


def test_a_choice_is_as_large_as_what_it_chooses_from():
    many, one = byre.zeros(ELEMENTS), byre.zeros(1)
    truth = byre.zeros(1, bool)
    assert releases(lambda: byre.where(truth, many[3:], one)) == 0
    assert releases(lambda: byre.where(truth, many, 1)) == releases(lambda: byre.where(truth, 1, many)) == 1
    assert releases(lambda: byre.where(byre.zeros(ELEMENTS, bool), 1, 2)) == 0
    assert releases(lambda: byre.where(byre.zeros(ELEMENTS + 1, bool), 1, 2)) == 1


def test_products_of_matrices_are_large_sooner():
    assert releases(lambda: byre.zeros((8, 8)) @ byre.zeros((8, 8))) == 0
    assert releases(lambda: byre.zeros((64, 64)) @ byre.zeros((64, 64))) == 1


def test_a_lazy_copy_is_small_whatever_its_size():
    x = byre.zeros(10 * ELEMENTS)
    assert releases(lambda: x.copy()) == 0
    assert releases(lambda: x.reshape(10, -1)) == 0
    assert releases(lambda: byre.explain(x)) == 0


def test_a_small_write_to_large_data_that_is_shared_lets_other_threads_run():
    x = byre.zeros(10 * ELEMENTS)
    assert releases(lambda: x.__setitem__(0, 1)) == 0
    y = x.copy()
    assert releases(lambda: x.__setitem__(0, 1)) == 1
    assert releases(lambda: y.__setitem__(0, 1)) == 0
    small = byre.zeros(ELEMENTS)
    clone = small.copy()
    assert releases(lambda: small.__setitem__(0, 1)) == 0
    assert same(clone, np.zeros(ELEMENTS))
