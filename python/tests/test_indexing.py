# SPDX-License-Identifier: BSL-1.0
import byre
import numpy as np
import pytest
from support import refused, same, values


@pytest.fixture
def x():
    return byre.array(np.arange(12).reshape(3, 4))


def test_ints_for_every_dimension_are_the_element(x):
    assert type(x[1, 2]) is np.int64 and x[1, 2] == 6
    assert type(byre.array(5)[()]) is np.int64
    assert type(byre.array([1.5], "bfloat16")[0]) is np.float32


@pytest.mark.parametrize("key", [..., (1, 2, ...), (..., 1, 2), (1, 2, None), (None, 1, 2), (1, slice(2, 3)), (), 1, np.int8(-1)])
def test_all_else_is_a_view(x, key):
    assert isinstance(x[key], byre.Array)
    assert same(x[key], values(x)[key])


@pytest.mark.parametrize("index", [3, -4, 1 << 40])
def test_an_index_out_of_range_is_refused(x, index):
    with refused(byre.IndexingError, f"index {index}", "axis 0", "size 3", "-3 to 2"):
        x[index]
    with refused(byre.IndexingError, f"index {index}", "axis 1", "size 3"):
        x.T[..., None, index]
    with refused(byre.IndexingError, f"index {index}", "axis 1", "size 3"):
        x.T[0, index]
    with refused(byre.IndexingError, f"index {index}", "axis 1", "size 3"):
        x.T[:, index]


def test_an_index_of_too_many_bits_is_refused(x):
    with refused(IndexError, "int"):
        x[1 << 70]


@pytest.mark.parametrize("key", [[0, 1], True, np.array([0, 1]), np.array(1), (0, [1]), (slice(None), False)])
def test_indices_that_choose_elements_are_refused(x, key):
    with refused(byre.IndexingError, "one by one", "x.numpy()[...]"):
        x[key]


def test_masks_are_refused(x):
    with refused(byre.IndexingError, "Array", "x.numpy()[...]"):
        x[x == 1]
    with refused(byre.IndexingError, "one by one"):
        x[[0]] = 1


@pytest.mark.parametrize("key", ["a", 1.0, (0, "a"), {}])
def test_other_indices_are_refused(x, key):
    with refused(byre.IndexingError, "type", "ints, slices"):
        x[key]


def test_too_many_indices_are_refused(x):
    with refused(byre.IndexingError, "3 indices", "2 dimensions"):
        x[0, 0, 0]
    with refused(byre.IndexingError, "More than one ellipsis"):
        x[..., ...]


def test_negative_steps_are_refused(x):
    with refused(byre.ShapeError, "step -2", "byre.flip"):
        x[::-2]
    with refused(ValueError, "zero"):
        x[::0]


def test_slices_are_cut_as_pythons(x):
    for key in (slice(5, 9), slice(-9, 2), slice(2, 1), slice(None, None, 7), slice(1 << 80)):
        assert same(x[key], values(x)[key])


def test_an_index_that_raises_is_let_through(x):
    class Broken:
        def __index__(self):
            raise LookupError("of the index")

    with refused(LookupError, "of the index"):
        x[Broken()]
    with refused(LookupError, "of the index"):
        x[Broken() :]


VALUES = [
    7,
    2.5,
    True,
    np.float32(3),
    [1, 2, 3, 4],
    (1, 2, 3, 4),
    np.arange(4),
    np.arange(3)[:, None],
    np.arange(12).reshape(1, 1, 3, 4),
    np.array(5),
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("dtype", ["int64", "float32", "bool", "complex64"])
def test_an_assignment_is_as_numpys(value, dtype):
    ours, theirs = byre.zeros((3, 4), dtype), np.zeros((3, 4), dtype)
    ours[...] = value
    theirs[...] = value
    assert same(ours, theirs)
    ours[1:, 2] = 1
    theirs[1:, 2] = 1
    ours[0, 0] = 0
    theirs[0, 0] = 0
    assert same(ours, theirs)


def test_an_assignment_of_an_array_converts_it():
    x = byre.zeros(3, "int32")
    x[...] = byre.array([1.7, -1.7, 2])
    assert same(x, np.array([1, -1, 2], "int32"))


def test_an_assignment_that_overlaps_is_as_if_copied_first(x):
    theirs = values(x)
    x[1:] = x[:-1]
    theirs[1:] = theirs[:-1].copy()
    assert same(x, theirs)
    square, theirs = x[:, :3], theirs[:, :3]
    square[...] = square.T
    theirs[...] = theirs.T.copy()
    assert same(square, theirs)


def test_refused_assignments_change_nothing(x):
    before = values(x)
    with refused(ValueError, "copy_"):
        x[...] = [1, 2, 3]
    with refused(ValueError, "copy_"):
        x[0] = np.zeros((2, 4))
    with refused(byre.OperandError, "assignment", "dict"):
        x[0] = {}
    with refused(byre.OperandError, "assignment", "str"):
        x[0] = "a"
    with refused(byre.OperandError, "assignment", "NoneType"):
        x[0] = None
    with refused(byre.DTypeError, "300"):
        byre.zeros(1, "uint8")[0] = 300
    assert same(x, before)


def test_iteration_is_over_the_first_dimension(x):
    assert [row.tolist() for row in x] == values(x).tolist()
    assert len(x) == 3
    assert list(byre.array([1, 2])) == [1, 2]
    assert list(byre.zeros((0, 2))) == []
    with refused(byre.OperandError, "len()", "x.item()"):
        len(byre.array(1))
    with refused(byre.OperandError, "iteration", "x.item()"):
        iter(byre.array(1))
