# SPDX-License-Identifier: BSL-1.0
"""Views beside NumPy's: the same sizes, strides and elements, or both refuse."""
import byre
import numpy as np
import pytest
from support import refused, same, values


def any_axis(chance, ndim):
    return chance.randint(-ndim - 1, ndim)


def any_index(chance, size):
    kind = chance.randrange(6)
    if kind == 0:
        return None
    if kind <= 2:
        beyond = size == 0 or chance.random() < 0.1
        return chance.choice([-size - 1, size]) if beyond else chance.randint(-size, size - 1)
    bounds = [chance.choice([None, chance.randint(-size - 2, size + 2)]) for _ in range(2)]
    return slice(*bounds, chance.choice([None, 1, 2, 3, 0 if chance.random() < 0.1 else 1]))


def any_key(chance, shape):
    key = [any_index(chance, size) for size in shape[: chance.randint(0, len(shape))]]
    if chance.random() < 0.3:
        key.insert(chance.randint(0, len(key)), Ellipsis)
    if chance.random() < 0.05:
        key.append(chance.choice([Ellipsis, 0, slice(None)]))
    return key[0] if len(key) == 1 and chance.random() < 0.5 else tuple(key)


def any_step(chance, array):
    """A name, and what is done to an array of byre's and to one of NumPy's."""
    ndim = array.ndim
    a, b = any_axis(chance, ndim), any_axis(chance, ndim)
    key = any_key(chance, array.shape)
    axes = chance.sample(range(ndim), ndim)
    if axes and chance.random() < 0.1:
        axes[0] = axes[-1]
    if chance.random() < 0.5:
        axes = [axis - ndim for axis in axes]
    some = chance.choice([None, a, (a, b)])
    wider = (2,) * chance.randint(0, 2) + tuple(
        3 if size == 1 and chance.random() < 0.5 else size for size in array.shape
    )
    if chance.random() < 0.1:
        wider = wider[1:]
    return chance.choice(
        [
            (f"[{key}]", lambda x: x[key], lambda x: x[key]),
            (f"[{key}]", lambda x: x[key], lambda x: x[key]),
            ("T", lambda x: x.T, lambda x: x.T),
            (f"transpose{axes}", lambda x: x.transpose(*axes), lambda x: x.transpose(*axes)),
            (f"transpose({axes})", lambda x: x.transpose(axes), lambda x: x.transpose(axes)),
            ("transpose(None)", lambda x: x.transpose(None), lambda x: x.transpose(None)),
            (f"swapaxes({a}, {b})", lambda x: x.swapaxes(a, b), lambda x: x.swapaxes(a, b)),
            (f"squeeze({some})", lambda x: x.squeeze(some), lambda x: x.squeeze(some)),
            (f"expand_dims({a})", lambda x: x.expand_dims(a), lambda x: np.expand_dims(x, a)),
            (f"diagonal({a - b}, {a}, {b})", lambda x: x.diagonal(a - b, a, b), lambda x: x.diagonal(a - b, a, b)),
            (f"broadcast_to({wider})", lambda x: byre.broadcast_to(x, wider), lambda x: np.broadcast_to(x, wider)),
        ]
    )


def strides_that_count(array):
    return [stride for stride, size in zip(array.strides, array.shape) if size > 1] if array.size else []


def result_of(step, array):
    try:
        return step(array), None
    except Exception as error:
        return None, error


def test_random_programs_of_views_are_as_numpys(chance):
    for _ in range(400):
        shape = tuple(chance.choice([0, 1, 2, 3, 4, 5]) for _ in range(chance.randint(0, 4)))
        theirs = np.arange(np.prod(shape, dtype=int), dtype=chance.choice(["i8", "f4", "i2"])).reshape(shape)
        ours = byre.array(theirs)
        program = [f"{shape}"]
        for _ in range(8):
            name, our_step, their_step = any_step(chance, theirs)
            program.append(name)
            (our_result, our_error), (their_result, their_error) = result_of(our_step, ours), result_of(their_step, theirs)
            if their_error is not None:
                assert our_error is not None, (program, their_error)
                kinds = (IndexError, ValueError, TypeError)
                assert any(
                    isinstance(our_error, kind) and isinstance(their_error, kind) for kind in kinds
                ), (program, our_error, their_error)
                program.pop()
                continue
            assert our_error is None, (program, our_error)
            if not isinstance(their_result, np.ndarray):
                assert type(our_result) is type(their_result) and our_result == their_result, program
                break
            assert same(our_result, their_result), program
            assert strides_that_count(our_result) == strides_that_count(their_result), program
            assert our_result.strides == tuple(abs(stride) for stride in our_result.strides)
            if their_result.ndim > 6:
                break
            ours, theirs = our_result, their_result


def test_writes_through_random_views_are_seen_as_numpys_are(chance):
    for _ in range(200):
        shape = tuple(chance.randint(1, 5) for _ in range(chance.randint(1, 3)))
        base = np.zeros(shape, dtype="i4")
        views = [(byre.array(base), base)]
        program = [f"{shape}"]
        for number in range(12):
            at = chance.randrange(len(views))
            ours, theirs = views[at]
            name, our_step, their_step = any_step(chance, theirs)
            program.append(f"{at}{name}")
            (our_result, _), (their_result, their_error) = result_of(our_step, ours), result_of(their_step, theirs)
            if their_error is None and isinstance(their_result, np.ndarray) and their_result.ndim < 7:
                if their_result.flags.writeable:
                    assert our_result is not None, program
                    views.append((our_result, their_result))
            ours, theirs = chance.choice(views)
            value = chance.choice([number, np.full(theirs.shape, number), np.arange(theirs.size).reshape(theirs.shape)])
            if chance.random() < 0.5:
                ours[...] = value
                theirs[...] = value
            else:
                ours += value
                theirs += value.astype("i4") if isinstance(value, np.ndarray) else value
            for our_view, their_view in views:
                assert same(our_view, their_view), program


def test_views_alias_their_base_and_each_other():
    x = byre.zeros((2, 3))
    row, column = x[0], x.T[1]
    row[1] = 5
    assert values(x)[0, 1] == 5 and values(column)[0] == 5
    x[1, 1] = 7
    assert values(column)[1] == 7


@pytest.mark.parametrize(
    "copy",
    [
        lambda x: x.copy(),
        lambda x: byre.copy(x),
        lambda x: byre.array(x),
        lambda x: x.reshape(3, 2),
        lambda x: x.reshape(-1),
        lambda x: x.reshape((6,)),
        lambda x: x.ravel(),
        lambda x: x.flatten(),
        lambda x: x.astype("float64"),
        lambda x: x.astype("float32"),
        lambda x: x.T.reshape(6),
    ],
)
def test_writes_to_copies_are_not_seen(copy):
    x = byre.array([[1.0, 2, 3], [4, 5, 6]])
    y = copy(x)
    before = values(y)
    x[...] = 0
    assert np.array_equal(values(y), before)
    y[...] = 9
    assert np.array_equal(values(x), np.zeros((2, 3)))


def test_a_copy_of_what_a_broadcast_repeats_can_be_written():
    x = byre.broadcast_to(byre.array([1, 2]), (2, 2))
    with refused(ValueError, "share memory"):
        x[...] = 5
    with refused(ValueError, "share memory"):
        x += 5
    y = x.copy()
    y[0, 0] = 5
    y += 1
    assert same(y, [[6, 3], [2, 3]]) and same(x, [[1, 2], [1, 2]])


def test_reshape_takes_sizes_in_every_way():
    x = byre.array(range(6))
    for y in (x.reshape(2, 3), x.reshape((2, 3)), x.reshape([2, -1]), x.reshape(np.int64(2), 3)):
        assert same(y, [[0, 1, 2], [3, 4, 5]])
    assert x[0:1].reshape(()).shape == x[0:1].reshape().shape == ()


def test_what_no_view_can_say_is_refused():
    x = byre.zeros((2, 3))
    with refused(byre.ShapeError, "squeeze", "axis 1", "[2, 3]", "other than 1", "an index"):
        x.squeeze(1)
    with refused(byre.ShapeError, "squeeze", "[0, -2]", "named twice"):
        byre.zeros((1, 1)).squeeze((0, -2))
    with refused(byre.ShapeError, "broadcast_to", "[2, -1]", "not negative"):
        byre.broadcast_to(x, (2, -1))
    with refused(byre.ShapeError, "swapaxes", "0"):
        byre.array(1).swapaxes(0, 0)
    with refused(byre.ShapeError, "squeeze", "1"):
        byre.array(1).squeeze(1)
    with refused(byre.ShapeError, "reshape", "4"):
        x.reshape(4)


def test_sizes_and_axes_are_ints():
    x = byre.zeros((2, 3))
    with refused(byre.OperandError, "reshape", "ints", "float"):
        x.reshape(2.0, 3)
    with refused(byre.OperandError, "reshape", "ints", "str"):
        x.reshape("6")
    with refused(byre.OperandError, "zeros", "ints", "bool"):
        byre.zeros((True, 2))
    with refused(byre.OperandError, "zeros", "ints", "set"):
        byre.zeros({1})
    with refused(ValueError, "int"):
        x.reshape(1 << 70)

    class Broken:
        def __index__(self):
            raise LookupError("of the index")

    with refused(LookupError, "of the index"):
        x.reshape(Broken())


def test_any_axes_are_squeezed_in_any_order():
    for axes in ((0, 2), (2, 0), (-1, 0), [0, -1]):
        assert byre.zeros((1, 2, 1)).squeeze(axes).shape == (2,)
    assert byre.array(1).squeeze(0).shape == byre.array(1).squeeze(-1).shape == ()


def test_permute_and_transpose_are_the_same():
    x = byre.array(np.arange(24).reshape(2, 3, 4))
    assert same(x.permute(1, 2, 0), values(x).transpose(1, 2, 0))
    assert same(x.permute(), values(x).T)
    assert same(x.transpose(), values(x).T)
