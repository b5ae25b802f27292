# SPDX-License-Identifier: BSL-1.0
import array

import byre
import numpy as np
import pytest
from support import refused, same, values

NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64"]
LACKING = ["uint16", "uint32", "uint64", "complex128", "object", "U3", "S3", "M8[s]", [("a", "i4")]]


@pytest.mark.parametrize("name", NAMES)
def test_dtypes_are_numpys_and_are_named_as_numpy_names_them(name):
    known = np.dtype(name)
    assert getattr(byre, "bool_" if name == "bool" else name) == known
    for dtype in (name, known, known.type, known.str, known.char):
        assert byre.zeros(2, dtype).dtype == known
    x = byre.array(np.ones((2, 3), known))
    assert (x.dtype, x.itemsize, x.nbytes) == (known, known.itemsize, 6 * known.itemsize)
    assert (x.shape, x.ndim, x.size) == ((2, 3), 2, 6)
    assert x.strides == (3 * known.itemsize, known.itemsize)
    assert same(x, np.ones((2, 3), known))
    assert same(byre.zeros((2, 3), name), np.zeros((2, 3), known))
    assert same(byre.full((2, 3), 1, name), np.ones((2, 3), known))
    assert byre.empty((2, 3), name).dtype == known


def test_python_types_are_dtypes():
    assert byre.zeros(1, bool).dtype == "bool"
    assert byre.zeros(1, int).dtype == "int64"
    assert byre.zeros(1, float).dtype == "float64"


def test_bfloat16_is_byres_own():
    for dtype in (byre.bfloat16, "bfloat16"):
        x = byre.array([1, 2.00390625, 1e39], dtype)
        assert x.dtype is byre.bfloat16
        assert values(x).tolist() == [1, 2, float("inf")]
        assert (x.itemsize, x.nbytes) == (2, 6)
    assert byre.array(np.float32(1.5), "bfloat16").item() == 1.5
    assert byre.array([True], "bfloat16").item() == 1
    assert byre.bfloat16.name == "bfloat16" and byre.bfloat16.itemsize == 2


@pytest.mark.parametrize("dtype", LACKING)
def test_dtypes_that_byre_lacks_are_refused(dtype):
    text = ("byre has no dtype", "bool, uint8, int8", "bfloat16", "complex64")
    with refused(byre.DTypeError, *text):
        byre.zeros(3, dtype)
    with refused(byre.DTypeError, *text):
        byre.array(np.zeros(3, dtype))
    with refused(byre.DTypeError, *text):
        byre.array(np.zeros(3, dtype), "bfloat16")


@pytest.mark.parametrize("dtype", ["nonsense", ">f4", 5, byre.Error])
def test_what_is_no_dtype_is_refused(dtype):
    with refused(byre.DTypeError, "byre has no dtype"):
        byre.zeros(3, dtype)


def test_what_numpy_raises_of_a_dtype_is_let_through():
    with refused(ValueError, "shape"):
        byre.zeros(3, ("i4", (-1,)))


def test_bfloat16_is_rounded_to_once():
    above_a_tie = 1 + 2**-8 + 2**-40
    assert byre.array([above_a_tie], "bfloat16").item() == byre.array(np.array([above_a_tie]), "bfloat16").item()
    assert byre.array([above_a_tie], "bfloat16").item() == byre.array([above_a_tie]).astype("bfloat16").item()


def test_numpy_converts_what_byre_lacks():
    assert same(byre.array(np.array([1, 70000], "uint32"), "int16"), np.array([1, 4464], "int16"))
    assert same(byre.array([1 + 2j], "complex64"), np.array([1 + 2j], "complex64"))
    with refused(byre.DTypeError, "complex128"):
        byre.array([1 + 2j])


def test_byre_converts_what_it_has():
    with np.errstate(all="ignore"):
        assert same(byre.array(np.array([np.nan, 1e30, -1.5]), "int32"), np.array([0, 2**31 - 1, -1], "int32"))
        assert same(byre.array(np.float64("nan"), "int32"), np.array(0, "int32"))


@pytest.mark.parametrize(
    "source",
    [[], [1], [[1, 2], [3, 4]], (1, 2.5), [True, False], 5, 2.5, True, [[]], range(3), np.float32(3), np.arange(6).reshape(2, 3).T],
)
def test_lists_and_numbers_become_what_numpy_makes_of_them(source):
    assert same(byre.array(source), np.array(source))
    assert same(byre.array(source, "float32"), np.array(source, "float32"))


@pytest.mark.parametrize("source", [b"abc", bytearray(b"abc"), memoryview(b"abc")])
def test_bytes_become_uint8(source):
    assert same(byre.array(source), np.frombuffer(b"abc", np.uint8))


def test_buffers_have_their_dtype():
    assert same(byre.array(array.array("h", [1, -2])), np.array([1, -2], "int16"))
    assert same(byre.array(b""), np.zeros(0, np.uint8))


@pytest.mark.parametrize("dtype", ["int16", "float32", "bool", "complex64"])
def test_numpy_arrays_of_any_strides_and_byte_order_are_copied(dtype):
    base = (np.arange(24).reshape(2, 3, 4) % 5).astype(dtype)
    for source in (base, base.T, base[::-1], base[:, ::2, ::-2], base[0, 0, 0], base[:, :0], np.broadcast_to(base, (2, 2, 3, 4))):
        assert same(byre.array(source), source)
        assert same(byre.array(source.astype(base.dtype.newbyteorder(">"))), source)
    x = byre.array(base)
    base[...] = 1
    assert not same(x, base)


def test_any_byte_of_a_bool_of_numpys_is_true_or_false():
    odd = np.array([0, 1, 2, 255], np.uint8).view(bool)
    assert values(byre.array(odd)).view(np.uint8).tolist() == [0, 1, 1, 1]


def test_a_list_of_arrays_is_stacked():
    assert same(byre.array([byre.array([1, 2]), byre.array([3, 4])]), [[1, 2], [3, 4]])


def test_a_value_decides_the_dtype_of_full():
    for value in (True, 3, 2.5):
        assert same(byre.full(2, value), np.full(2, value))
    assert same(byre.full(2, 1j), np.full(2, 1j, "complex64"))
    assert same(byre.full((), np.int8(3)), np.full((), 3))
    with refused(byre.OperandError, "full", "str", "x[...] = value"):
        byre.full(2, "a")
    with refused(byre.DTypeError, "300"):
        byre.full(2, 300, "uint8")
    with refused(byre.DTypeError, "64 bits"):
        byre.full(2, 1 << 64)


def test_sizes_are_checked():
    for make in (byre.zeros, byre.empty, lambda shape: byre.full(shape, 1)):
        assert make(()).shape == () and make(3).shape == make([3]).shape == (3,)
        with refused(byre.ShapeError, "-1", "negative"):
            make(-1)
        with refused(byre.ShapeError):
            make((1 << 40, 1 << 40))
        with refused(MemoryError, "bytes"):
            make(1 << 50)


def test_what_numpy_refuses_is_refused():
    with pytest.raises(ValueError):
        byre.array([[1], [1, 2]])
    with pytest.raises(TypeError):
        byre.array({}, "float32")
    with refused(byre.DTypeError, "object"):
        byre.array(None)
    with refused(TypeError, "made by functions of byre"):
        byre.Array()


def test_a_large_array_in_pages_copies_the_pages_that_are_written():
    count = 1 << 20
    makers = [
        lambda: byre.zeros(count, "uint8", pages=True),
        lambda: byre.full(count, 0, "uint8", pages=True),
        lambda: byre.array(bytes(count), pages=True),
        lambda: byre.array(byre.zeros(count, "uint8"), pages=True),
        lambda: byre.array(np.zeros(count), "uint8", pages=True),
        lambda: byre.empty(count, "uint8", pages=True),
    ]
    for make in makers:
        x = make()
        assert "in pages" in byre.explain(x)
        x[...] = 0
        y = x.copy()
        before = byre.stats()
        y[5] = 1
        x[6] = 2
        assert (byre.stats() - before).bytes_copied == 0
        assert x[5] == 0 and y[5] == 1 and y[6] == 0 and x[6] == 2
    for make in (byre.zeros, byre.empty):
        assert "in pages" not in byre.explain(make(count))


def test_arrays_of_arrays_convert_or_share():
    x = byre.array([1, 2])
    before = byre.stats()
    y = byre.array(x)
    z = byre.array(x, "int64")
    assert (byre.stats() - before).lazy_clones == 2
    converted = byre.array(x, "float32")
    assert (byre.stats() - before).lazy_clones == 2
    assert same(converted, np.array([1, 2], "float32"))
