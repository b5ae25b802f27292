# SPDX-License-Identifier: BSL-1.0
"""Copies of containers of arrays."""
import collections
import dataclasses
import itertools
import sys
import types

import byre
import numpy as np
import pytest
from support import N, Counted, copied, ramp, refused

Pair = collections.namedtuple("Pair", ["first", "second"])


@dataclasses.dataclass
class Point:
    values: object
    label: str = "here"


@dataclasses.dataclass
class Slotted:
    __slots__ = ("values", "missing")
    values: object
    missing: object


class Ordered(collections.OrderedDict):
    pass


class CopiesItself:
    def __deepcopy__(self, memo):
        return "its own copy"


def slotted(x):
    tree = Slotted(x, None)
    del tree.missing
    return tree


def ordered(x):
    tree = Ordered(a=x)
    tree.attribute = x
    return tree


TREES = {
    "dict": (lambda x: {"a": x, 3: None}, lambda t: t["a"]),
    "list": (lambda x: [1, x], lambda t: t[1]),
    "tuple": (lambda x: ("text", x), lambda t: t[1]),
    "deque": (lambda x: collections.deque([x], 5), lambda t: t[0]),
    "named tuple": (lambda x: Pair(1, x), lambda t: t.second),
    "dataclass": (Point, lambda t: t.values),
    "dataclass with slots": (slotted, lambda t: t.values),
    "namespace": (lambda x: types.SimpleNamespace(a=x), lambda t: t.a),
    "defaultdict": (lambda x: collections.defaultdict(list, a=x), lambda t: t["a"]),
    "attributes of a dict": (ordered, lambda t: t.attribute),
    "nested": (lambda x: {"a": [(Point({"b": x}),)]}, lambda t: t["a"][0][0].values["b"]),
}


@pytest.mark.parametrize("make_array", [ramp, lambda: np.arange(N)], ids=["in pages", "outside"])
@pytest.mark.parametrize("name", TREES)
def test_tree_gives_a_tree_of_its_type_with_a_copied_array(name, make_array):
    make, get = TREES[name]
    x = make_array()
    tree = make(x)
    copy, *counts = copied(tree)
    assert type(copy) is type(tree) and copy is not tree
    assert get(copy) is not x and np.array_equal(get(copy), x)
    assert counts == ([1, 0] if byre.is_lazy(x) else [0, x.nbytes])
    get(copy)[0] = -1
    assert x[0] == 0
    assert get(tree) is x


def test_other_parts_of_a_tree_are_copied_as_deepcopy_does():
    tree = {"list": [1, [2]], "itself": CopiesItself(), "function": len, "array": ramp()}
    tree["tree"] = tree
    copy = byre.copy(tree)
    assert copy["list"] == [1, [2]] and copy["list"][1] is not tree["list"][1]
    assert copy["itself"] == "its own copy" and copy["function"] is len
    assert copy["tree"] is copy
    tree["itself"].array = np.zeros(3)
    assert byre.copy(tree, lazy=True)["itself"] == "its own copy"
    with refused(TypeError, "copy: unsupported type CopiesItself"):
        byre.copy(CopiesItself())


def test_one_array_in_two_places_stays_one_array():
    x, y = ramp(), np.zeros(3)
    copy = byre.copy([x, y, {"x": x}, Point(y)])
    assert copy[0] is copy[2]["x"] and copy[0] is not x
    assert copy[1] is copy[3].values and copy[1] is not y


SHARING = {
    "a view and its base": lambda x: [x[10:20], x],
    "two views of other dtypes": lambda x: [x[:-1], x.view("u1")[3:], x[5:].view("c8")],
    "bytes before numbers": lambda x: [x.view("u1")[3:99], x[1:], x[2:].view("f4")[1:]],
    "interleaved": lambda x: [x[::2], x[1::2]],
    "backwards": lambda x: [x[::-1], x[2:]],
    "broadcast": lambda x: [np.broadcast_to(x, (3, len(x))), x],
    "fields": lambda x: [x.view("i4,f4"), x.view("i4,f4")["f1"]],
    "subclass": lambda x: [x.view(np.matrix), x],
}


@pytest.mark.parametrize("make_array", [ramp, lambda: np.arange(N, dtype=float)], ids=["in pages", "outside"])
@pytest.mark.parametrize("name", SHARING)
def test_arrays_that_share_memory_share_it_in_the_copy(name, make_array):
    arrays = SHARING[name](make_array())
    copies = byre.copy(arrays)
    for array, copy in zip(arrays, copies):
        assert type(copy) is type(array) and copy.dtype == array.dtype and copy.strides == array.strides
        assert copy.tobytes() == array.tobytes()
        assert copy.flags.aligned == array.flags.aligned and copy.flags.writeable
        assert not np.shares_memory(array, copy)
    before = [array.tobytes() for array in arrays]
    for a, b in itertools.combinations(range(len(arrays)), 2):
        assert np.shares_memory(copies[a], copies[b]) == np.shares_memory(arrays[a], arrays[b])
    copies[1].reshape(-1)[:9] = copies[1].reshape(-1)[20:29]
    assert [array.tobytes() for array in arrays] == before
    arrays[1].reshape(-1)[:9] = arrays[1].reshape(-1)[20:29]
    assert [array.tobytes() for array in arrays] == [copy.tobytes() for copy in copies]


def test_views_of_one_block_are_copied_as_one_block():
    x = ramp()
    copy, *counts = copied({"low": x[: N // 2], "high": x[N // 2 :]})
    assert counts == [1, 0] and (copy["low"] == x[: N // 2]).all() and (copy["high"] == x[N // 2 :]).all()
    x = byre.zeros(100_001, "u1")
    low, high = byre.copy([x[:50_000], x[50_000:]], lazy=True)
    assert len(low) == 50_000 and len(high) == 50_001


def test_lazy_true_refuses_a_tree_before_any_copy():
    # The extension refuses the second, which is a small part of a block.
    for array, words in ((np.zeros(10), 'the array "deep.0" of 80 bytes'), (byre.zeros((1024, 1024))[3, :10], "80")):
        tree = {"a": ramp(), "deep": [array]}
        with Counted() as counted, refused(byre.CopyRefused, words):
            byre.copy(tree, lazy=True)
        assert (counted.lazy_copies, counted.bytes_copied) == (0, 0) and not byre.is_lazy(tree)
    assert byre.is_lazy({"a": ramp(), "b": 3, "empty": np.empty(0)})


def test_explain_has_a_line_for_each_block_and_each_other_array():
    x = ramp()
    lines = byre.explain({"low": x[:100], "high": x[100:], "small": np.zeros(2), "objects": np.array([{}])}).split("\n")
    assert len(lines) == 3
    assert lines[0].startswith('array "low", array "high": ')
    assert 'array "small": copied at once: its memory is not in pages of byre' in "\n".join(lines)
    assert 'array "objects": copied at once: it holds Python objects' in "\n".join(lines)
    lines = byre.explain([x[number::10] for number in range(10)])
    assert lines.startswith('array "0", array "1", array "2" and 7 more: ')
    assert byre.explain(x).startswith("array: ")


def test_deep_tree_is_refused_as_deepcopy_refuses_it():
    tree = []
    for _ in range(sys.getrecursionlimit()):
        tree = [tree]
    with pytest.raises(RecursionError):
        byre.copy(tree)
