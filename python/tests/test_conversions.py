# SPDX-License-Identifier: BSL-1.0
import copy
import gc
import pickle
import weakref

import byre
import numpy as np
import pytest
from support import refused, same, values


def test_one_element_is_a_number():
    for value in (3, 2.5, True):
        for shape in ((), (1,), (1, 1)):
            x = byre.full(shape, value)
            assert (int(x), float(x), bool(x), x.item()) == (int(value), float(value), bool(value), value)
            assert type(x.item()) is type(value)
    assert complex(byre.full((), 1 + 2j)) == 1 + 2j
    assert not byre.zeros(1)
    assert float(byre.array(1.5, "bfloat16")) == 1.5


@pytest.mark.parametrize("shape", [(2,), (0,), (2, 3)])
def test_no_other_array_is_a_number(shape):
    x = byre.zeros(shape)
    for name, convert in {"bool()": bool, "int()": int, "float()": float, "complex()": complex, "item()": lambda x: x.item()}.items():
        kind = ValueError if name in ("bool()", "item()") else TypeError
        with refused(kind, name, "not one", "x[index]"):
            convert(x)


def test_a_complex_number_is_no_int_or_float():
    x = byre.full((), 1j)
    for convert in (int, float):
        with refused(TypeError, convert.__name__, "complex"):
            convert(x)


@pytest.mark.parametrize("x", [np.arange(3), np.zeros((2, 0)), np.array(1.5), np.ones((2, 2), "float32"), np.array([True]), np.arange(2000), np.zeros((0,), "int8")])
def test_texts_are_numpys(x):
    ours = byre.array(x)
    assert repr(ours) == repr(x)
    assert str(ours) == str(x)


def test_the_text_of_bfloat16_names_it():
    x = byre.array([1.5, 2], "bfloat16")
    assert repr(x) == "array([1.5, 2. ], dtype=bfloat16)"
    assert str(x) == "[1.5 2. ]"
    assert repr(byre.bfloat16) == str(byre.bfloat16) == "bfloat16"


def test_lists_and_bytes_are_of_the_elements_seen():
    x = byre.array(np.arange(6, dtype="int16").reshape(2, 3))
    for view in (x, x.T, x[:, 1], x[0, 0:0], x[1:, 2]):
        assert view.tolist() == values(view).tolist()
        assert view.tobytes() == values(view).tobytes()
    assert byre.array([True, False])[0:1].tobytes() == b"\1"
    assert byre.array([1.5], "bfloat16").tobytes() == np.array([1.5], "f4").tobytes()[2:]


def test_bools_go_to_memory_that_had_other_bytes():
    x = byre.array([True, False] * 500)
    for _ in range(20):
        others = [np.full(1000, 255, np.uint8), bytes([255]) * 1000, bytearray([255]) * 1000]
        del others
        assert values(x).sum() == 500
        assert sum(x.tobytes()) == 500


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "bfloat16", "float64", "complex64"])
def test_pickles_are_of_the_elements_seen(protocol, dtype):
    x = byre.array(np.arange(6).reshape(2, 3) % 2, dtype)
    for view in (x, x.T, x[:, 1], x[0, 0:0], byre.array(1, dtype)):
        y = pickle.loads(pickle.dumps(view, protocol))
        assert y.dtype == view.dtype and y.shape == view.shape
        assert np.array_equal(values(y), values(view))
    y = pickle.loads(pickle.dumps(x, protocol))
    y[...] = 0
    assert values(x).any()


def test_damaged_pickles_are_refused():
    with refused(byre.ShapeError, "unpickling 3 bytes", "[2]", "4 bytes", "damaged"):
        byre._unpickled(b"abc", (2,), "int16")
    with refused(byre.ShapeError, "unpickling 3 bytes", "damaged"):
        byre._unpickled(b"abc", (2,), "bool")
    with refused(byre.DTypeError, "bool"):
        byre._unpickled(b"\2", (1,), "bool")


def test_bfloat16_is_one_object_everywhere():
    assert pickle.loads(pickle.dumps(byre.bfloat16)) is byre.bfloat16
    assert copy.copy(byre.bfloat16) is copy.deepcopy([byre.bfloat16])[0] is byre.bfloat16


def test_arrays_can_be_referred_to_weakly_and_not_hashed():
    x = byre.zeros(3)
    weak = weakref.ref(x)
    assert weak() is x
    del x
    gc.collect()
    assert weak() is None
    with refused(TypeError, "unhashable"):
        hash(byre.zeros(3))
    with refused(TypeError, "unhashable"):
        hash(byre.stats())


def test_types_are_named_as_users_see_them():
    for kind in (byre.Array, byre.Stats, byre.no_copies, byre.BFloat16Type, byre.ShapeError):
        assert kind.__module__ == "byre"
        assert pickle.loads(pickle.dumps(kind)) is kind
