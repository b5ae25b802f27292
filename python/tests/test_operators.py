# SPDX-License-Identifier: BSL-1.0
"""Operators beside NumPy's, of dtypes for which the two promote in the same way."""
import operator

import byre
import numpy as np
import pytest
from support import refused, same, values

DTYPES = ["int8", "int32", "int64", "float32", "float64", "complex64"]
ARITHMETIC = [operator.add, operator.sub, operator.mul]
COMPARISONS = [operator.eq, operator.ne]
ORDERS = [operator.ge, operator.le, operator.gt, operator.lt]
IN_PLACE = [operator.iadd, operator.isub, operator.imul]


def pair(dtype):
    if dtype == "complex64":
        return np.array([[1, 2j, -3]], dtype), np.array([[2], [2j]], dtype)
    return np.array([[1, -2, 3]], dtype), np.array([[2], [-2]], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_of_two_arrays_broadcast(dtype):
    a, b = pair(dtype)
    for operation in ARITHMETIC + COMPARISONS + (ORDERS if dtype != "complex64" else []):
        expected = operation(a, b)
        assert same(operation(byre.array(a), byre.array(b)), expected)
        assert same(operation(byre.array(a), b), expected), "beside an array of NumPy's"
        assert same(operation(a, byre.array(b)), expected), "of an array of NumPy's"
        assert same(operation(byre.array(a), b.tolist() if dtype in ("int64", "float64") else b), expected)
    if dtype in ("float32", "float64", "complex64"):
        assert same(byre.array(a) / byre.array(b), a / b)
        assert same(a / byre.array(b), a / b)
    assert same(-byre.array(a), -a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [2, -3, np.int8(2), True])
def test_operators_of_an_array_and_a_number(dtype, number):
    a, _ = pair(dtype)
    for operation in ARITHMETIC + COMPARISONS + (ORDERS if dtype != "complex64" else []):
        assert same(operation(byre.array(a), number), operation(a, number))
        assert same(operation(number, byre.array(a)), operation(number, a))
    if dtype in ("float32", "float64"):
        assert same(byre.array(a) / number, a / number)
        assert same(number / byre.array(a), number / a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_in_place_write_the_array_itself(dtype):
    a, b = pair(dtype)
    for operation in IN_PLACE + ([operator.itruediv] if dtype.startswith(("f", "c")) else []):
        theirs = np.broadcast_to(a, (2, 3)).copy()
        ours = byre.array(theirs)
        view, clone = ours[1], ours.copy()
        result = operation(ours, byre.array(b))
        assert result is ours
        before = theirs.copy()
        theirs = operation(theirs, b)
        assert same(ours, theirs) and same(view, theirs[1]) and same(clone, before)
        assert same(operation(ours, 2), operation(theirs, 2))
        assert same(operation(ours, b), operation(theirs, b))


def test_comparisons_of_not_a_number_are_false():
    a = np.array([np.nan, 1, 2, np.inf])
    for operation in COMPARISONS + ORDERS:
        for b in (np.nan, 1.0, a[::-1].copy()):
            assert same(operation(byre.array(a), b), operation(a, b))
            assert same(operation(b, byre.array(a)), operation(b, a))


def test_comparisons_are_exact_for_ints_that_the_dtype_lacks():
    x = byre.array([1, 2], "int8")
    assert same(x == 300, [False, False])
    assert same(x < 300, [True, True])
    assert same(x > 300, [False, False])


def test_an_operand_that_overlaps_what_is_written_is_copied_first():
    for ours_step, theirs_step in [
        (lambda x: x[1:], lambda x: x[:-1]),
        (lambda x: x[:-1], lambda x: x[1:]),
        (lambda x: x[:2], lambda x: x[:2].T),
        (lambda x: x[:2], lambda x: x[1:2]),
    ]:
        theirs = np.arange(6).reshape(3, 2)
        ours = byre.array(theirs)
        target, source = ours_step(ours), theirs_step(ours)
        target += source
        target, source = ours_step(theirs), theirs_step(theirs)
        target += source.copy()
        assert same(ours, theirs)


def test_an_operand_that_overlaps_and_does_not_fit_is_refused():
    x = byre.zeros((3, 2))
    with refused(byre.ShapeError, "add_", "[2, 2]"):
        x += x[:2]
    row = x[0]
    with refused(byre.ShapeError, "add_", "[1, 2]"):
        row += x[1:2]
    nothing = x[0:0]
    nothing += x[0:0]
    nothing += x[0:1]


def test_numpys_operators_leave_arrays_to_byre():
    assert byre.Array.__array_priority__ == 1000
    for number in (np.float64(2), np.array(2.0)):
        for operation in ARITHMETIC + [operator.truediv] + COMPARISONS + ORDERS:
            assert isinstance(operation(number, byre.zeros(2)), byre.Array)
    theirs = np.arange(3.0)
    ours = byre.array([1.0, 2.0, 2.0])
    for operation in ARITHMETIC + [operator.truediv] + COMPARISONS + ORDERS:
        assert same(operation(theirs, ours), operation(theirs, values(ours)))
    assert same(np.ones((2, 3)) @ ours, np.ones((2, 3)) @ values(ours))


def test_numpys_functions_see_arrays_and_copy_nothing():
    x = byre.array([[1.0, 2.0], [3.0, 4.0]])
    y = x.copy()
    before = byre.stats()
    assert np.array_equal(np.exp(x), np.exp(values(x)))
    assert np.sum(x) == np.add.reduce(x, axis=None) == 10
    assert np.array_equal(np.maximum.accumulate(x, axis=1), values(x))
    assert np.array_equal(np.add(x, [1.0, 1.0]), values(x) + 1)
    assert np.array_equal(np.where(x > y, x, 0), np.zeros((2, 2)))
    assert [part.tolist() for part in np.divmod(x, 2.0)] == [[[0, 1], [1, 2]], [[1, 0], [1, 0]]]
    assert (byre.stats() - before).copies == 0
    with refused(TypeError, "bfloat16"):
        np.exp(byre.zeros(2, byre.bfloat16))


def test_a_sum_of_all_is_a_number_as_numpys():
    x = byre.array([[1, 2], [3, 4]])
    assert type(x.sum()) is type(x[0].sum(0)) is np.int64
    assert type(x.sum(keepdims=True)) is byre.Array
    with refused(TypeError, "sum with out="):
        x.sum(0, out=x[0])


def test_numpys_functions_write_what_they_are_told_to():
    theirs = np.zeros(2)
    theirs += byre.array([1.0, 2.0])
    assert theirs.tolist() == [1, 2]
    x = byre.array([1.0, 2.0])
    y = x.copy()
    assert np.add(x, 1.0, out=x) is x
    assert same(x, np.array([2.0, 3.0])) and same(y, np.array([1.0, 2.0]))
    before = byre.stats()
    np.multiply(x, x, out=x)
    assert same(x, np.array([4.0, 9.0]))
    assert (byre.stats() - before).copies == 0
    np.copysign(x, -1.0, out=x, where=[True, False])
    assert same(x, np.array([-4.0, 9.0]))
    z = x.copy()
    np.add.at(x, [0, 0], 1.0)
    assert same(x, np.array([-2.0, 9.0])) and same(z, np.array([-4.0, 9.0]))
    quotients, rests = byre.zeros(2), np.zeros(2)
    result = np.divmod(y, 2.0, out=(quotients, rests))
    assert result[0] is quotients and result[1] is rests
    assert same(quotients, np.array([0.0, 1.0])) and rests.tolist() == [1, 0]


def test_matrix_products_are_numpys():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for left, right in [(a, b), (a[0], b), (a, b[:, 0]), (a[0], b[:, 0]), (np.stack([a, a]), b), (a[:, :0], b[:0])]:
        assert same(byre.array(left) @ byre.array(right), left @ right)
        assert same(byre.array(left) @ right, left @ right)
        assert same(left @ byre.array(right), left @ right)
        assert same(byre.matmul(left, right.tolist() if right.size else right), left @ right)
    for wrong in (lambda: byre.array(a) @ 2, lambda: 2 @ byre.array(a), lambda: byre.array(a) @ byre.array(a)):
        with refused(ValueError, "matmul"):
            wrong()
    with refused(ValueError, "matmul", "x * number"):
        byre.array(a) @ 2


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "bool"])
def test_sums_are_numpys(dtype):
    a = (np.arange(24).reshape(2, 3, 4) % 7).astype(dtype)
    for axis in (None, 0, -1, (0, 2), (2, 0), [1], ()):
        their_axis = tuple(axis) if isinstance(axis, list) else axis
        for keepdims in (False, True):
            if axis == () and dtype == "bool":
                continue
            expected = a.sum(axis=their_axis, keepdims=keepdims)
            assert same(byre.array(a).sum(axis, keepdims), expected)
            assert same(byre.sum(a, axis=axis, keepdims=keepdims), expected)
    assert byre.array(5).sum().item() == 5
    with refused(byre.ShapeError, "sum", "3"):
        byre.array(a).sum(3)
    with refused(byre.OperandError, "sum", "float"):
        byre.array(a).sum(1.0)


def test_functions_of_each_element():
    a = np.array([-1.0, 0, 2])
    assert np.allclose(values(byre.exp(byre.array(a))), np.exp(a), rtol=1e-15)
    assert same(byre.relu(byre.array(a)), np.maximum(a, 0))
    assert same(byre.relu(a), np.maximum(a, 0))
    assert byre.exp(0).item() == 1
    for function in (byre.exp, byre.relu, byre.sum, byre.flip):
        with refused(byre.OperandError, function.__name__, "str", "byre.array()"):
            function("a")


def test_where_chooses_elements():
    c, a, b = np.array([True, False]), np.array([[1], [2]]), np.array([3, 4])
    assert same(byre.where(byre.array(c), byre.array(a), byre.array(b)), np.where(c, a, b))
    assert same(byre.where(c, a, b), np.where(c, a, b))
    assert same(byre.where(c, byre.array(a), 7), np.where(c, a, 7))
    assert same(byre.where(c, 7, byre.array(a)), np.where(c, 7, a))
    assert same(byre.where(c, 7, 8), np.where(c, 7, 8))
    with refused(byre.DTypeError, "where", "bool"):
        byre.where(byre.array(a), a, b)
    with refused(byre.OperandError, "where", "str"):
        byre.where(c, "a", b)
    with refused(byre.OperandError, "where", "str"):
        byre.where("a", a, b)


def test_concatenate_and_flip_are_numpys():
    a, b = np.arange(6).reshape(2, 3), np.arange(2).reshape(2, 1)
    assert same(byre.concatenate([byre.array(a), byre.array(b)], axis=1), np.concatenate([a, b], axis=1))
    assert same(byre.concatenate((a, byre.array(a), a.tolist())), np.concatenate((a, a, a)))
    with refused(byre.ShapeError, "cat"):
        byre.concatenate([])
    with refused(byre.ShapeError, "cat"):
        byre.concatenate([a, b])
    with refused(byre.OperandError, "concatenate", "str"):
        byre.concatenate(["a"])
    for axis in (None, 0, -1, (0, 1)):
        assert same(byre.flip(byre.array(a), axis), np.flip(a, axis))
    with refused(byre.ShapeError, "flip"):
        byre.flip(a, 2)


@pytest.mark.parametrize(
    "operation",
    ARITHMETIC + ORDERS + IN_PLACE + [operator.truediv, operator.itruediv, operator.matmul],
)
def test_what_is_no_operand_is_left_to_python(operation):
    class Other:
        def __radd__(self, other):
            return "reflected"

    x = byre.zeros(3)
    for other in ("a", None, {}):
        with pytest.raises(TypeError):
            operation(x, other)
    with pytest.raises(TypeError):
        operation("a", x)
    assert byre.zeros(3) + Other() == "reflected"
    assert (x == "a") is False and (x != "a") is True


def test_numpys_scalars_that_are_no_numbers_are_no_operands():
    for other in (np.str_("a"), np.datetime64(1, "s"), np.longdouble(1), np.void(b"a")):
        with pytest.raises(TypeError):
            byre.zeros(3) + other


def test_refused_operations_change_nothing():
    x = byre.zeros(3, "int8")
    with refused(byre.ShapeError, "add_", "[3]", "[2]"):
        x += byre.zeros(2, "int8")
    with refused(byre.DTypeError, "add_"):
        x += 1.5
    with refused(byre.DTypeError, "300"):
        x += 300
    with refused(byre.DTypeError, "64 bits"):
        x += 1 << 64
    with refused(byre.DTypeError, "64 bits"):
        x + -(1 << 64)
    with refused(byre.ShapeError, "[3]", "[2]"):
        x + byre.zeros(2)
    with refused(byre.DTypeError, "ge"):
        byre.zeros(1, "complex64") < 1
    with refused(byre.DTypeError, "neg"):
        -byre.zeros(1, bool)
    assert same(x, np.zeros(3, "int8"))


@pytest.mark.parametrize("size", [100, 50_000])
def test_small_and_large_operands_give_the_same(size):
    a = np.arange(size, dtype="int64")
    x = byre.array(a)
    assert same(x + x, a + a)
    assert same(x[:, None][:100] + x[None, :100], a[:, None][:100] + a[None, :100])
    x += 1
    assert same(x, a + 1)
    assert same(byre.where(x > 5, x, 0), np.where(a + 1 > 5, a + 1, 0))


def test_imports_of_one_memory_are_known_to_overlap():
    theirs = np.arange(5.0)
    a, b = byre.from_numpy(theirs), byre.from_numpy(theirs)
    a[1:] = b[:-1]
    assert theirs.tolist() == [0, 0, 1, 2, 3]
