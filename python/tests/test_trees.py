# SPDX-License-Identifier: BSL-1.0
"""Containers of arrays: copies of them, and moves to pages."""
import collections
import dataclasses
import itertools
import sys
import threading
import types

import byre
import numpy as np
import pytest
from support import N, copied, ramp, refused, same

Pair = collections.namedtuple("Pair", ["first", "second"])


@dataclasses.dataclass
class Point:
    values: object
    label: str = "here"


@dataclasses.dataclass(init=False)
class Slotted:
    __slots__ = ("values", "missing")
    values: object
    missing: object

    def __init__(self, values):
        self.values = values


class Plain:
    __slots__ = ("values", "__dict__", "__weakref__")

    def __init__(self, values):
        self.values = values


class CopiesItself:
    def __deepcopy__(self, memo):
        return "its own copy"


def ordered(x):
    tree = collections.OrderedDict(a=x)
    tree.attribute = x
    return tree


TREES = {
    "dict": (lambda x: {"a": x, 3: None}, lambda t: t["a"]),
    "list": (lambda x: [1, x], lambda t: t[1]),
    "tuple": (lambda x: ("text", x), lambda t: t[1]),
    "deque": (lambda x: collections.deque([x], 5), lambda t: t[0]),
    "named tuple": (lambda x: Pair(1, x), lambda t: t.second),
    "dataclass": (Point, lambda t: t.values),
    "dataclass with slots": (Slotted, lambda t: t.values),
    "slots": (Plain, lambda t: t.values),
    "namespace": (lambda x: types.SimpleNamespace(a=x), lambda t: t.a),
    "defaultdict": (lambda x: collections.defaultdict(list, a=x), lambda t: t["a"]),
    "attributes of a dict": (ordered, lambda t: t.attribute),
    "nested": (lambda x: {"a": [(Point({"b": x}),)]}, lambda t: t["a"][0][0].values["b"]),
}


@pytest.mark.parametrize("make_array", [ramp, lambda: np.arange(N)], ids=["in pages", "outside"])
@pytest.mark.parametrize("name", TREES)
def test_copy_of_a_tree_has_its_type_and_a_copied_array(name, make_array):
    make, get = TREES[name]
    x = make_array()
    tree = make(x)
    copy, *counts = copied(tree)
    assert type(copy) is type(tree) and copy is not tree
    assert get(copy) is not x and np.array_equal(get(copy), x)
    assert counts == ([1, 0] if byre.is_lazy(x) else [0, x.nbytes])
    get(copy)[0] = -1
    assert x[0] == 0 and get(tree) is x


def test_objects_other_than_arrays_are_copied_as_by_deepcopy():
    x, y = ramp(), np.zeros(3)
    tree = {"list": [1, [2], x, y], "itself": CopiesItself(), "function": len, "array": x, "small": Point(y)}
    tree["tree"] = tree
    copy = byre.copy(tree)
    assert copy["list"][:2] == [1, [2]] and copy["list"][1] is not tree["list"][1]
    assert copy["list"][2] is copy["array"] is not x and copy["list"][3] is copy["small"].values is not y
    assert copy["itself"] == "its own copy" and copy["function"] is len
    assert copy["tree"] is copy
    tree["itself"].array = y
    assert byre.copy([x, tree["itself"]], lazy=True)[1] == "its own copy"
    for _ in range(sys.getrecursionlimit()):
        tree = [tree]
    with pytest.raises(RecursionError):
        byre.copy(tree)


def test_to_pages_makes_new_containers_and_keeps_other_objects():
    others = [types.SimpleNamespace(), threading.Lock(), "text", len, CopiesItself()]
    key = threading.Lock()
    tree = {"point": Point(np.arange(N)), key: others, "pair": Pair(1, np.zeros(N)), "set": {1}}
    tree["tree"] = tree
    moved = byre.to_pages(tree)
    assert moved is not tree and moved["tree"] is moved and list(moved) == list(tree)
    assert moved[key] is not others and all(a is b for a, b in zip(moved[key], others))
    assert type(moved["point"]) is Point and not byre.is_lazy(tree["point"].values)
    assert byre.is_lazy(moved["point"].values) and (moved["point"].values == np.arange(N)).all()
    assert type(moved["pair"]) is Pair and byre.is_lazy(moved["pair"].second)
    for function, x in ((byre.copy, CopiesItself()), (byre.to_pages, others[0])):
        with refused(TypeError, f"{function.__name__}: unsupported type {type(x).__name__}"):
            function(x)


def test_to_pages_returns_paged_and_unmovable_arrays_unchanged():
    inside = ramp()
    kept = [inside, np.array([{}], object), np.ma.masked_array([1, 2]), np.empty(0)]
    *stayed, view, moved = byre.to_pages([*kept, inside[10:], np.zeros(N)])
    assert all(a is b for a, b in zip(stayed, kept)) and view.base is inside and byre.is_lazy(moved)


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


@pytest.mark.parametrize("operation, n", [(byre.copy, 0), (byre.copy, N), (byre.to_pages, 100), (byre.to_pages, N)])
@pytest.mark.parametrize("name", SHARING)
def test_arrays_that_share_memory_share_it_in_the_result(name, operation, n):
    arrays = SHARING[name](np.arange(n, dtype=float) if n else ramp())
    assert byre.is_lazy(arrays) == (n == 0)
    copies = operation(arrays)
    for array, copy in zip(arrays, copies):
        assert same(copy, array) and copy.strides == array.strides
        assert copy.flags.aligned == array.flags.aligned and copy.flags.writeable
        assert not np.shares_memory(array, copy)
    for a, b in itertools.combinations(range(len(arrays)), 2):
        assert np.shares_memory(copies[a], copies[b]) == np.shares_memory(arrays[a], arrays[b])
    before = [array.tobytes() for array in arrays]
    copies[1].reshape(-1)[:9] = copies[1].reshape(-1)[20:29]
    assert [array.tobytes() for array in arrays] == before
    arrays[1].reshape(-1)[:9] = arrays[1].reshape(-1)[20:29]
    assert [array.tobytes() for array in arrays] == [copy.tobytes() for copy in copies]


@pytest.mark.parametrize("make_array", [ramp, lambda: np.arange(N)], ids=["in pages", "outside"])
def test_copied_table_columns_are_packed_and_overlaps_stay_shared(make_array):
    table = make_array().reshape(-1, 64)
    source = {"left": table[:, 0], "rows": table[:9, 2:4], "corner": table[3:5, 3], "last": table[:, -1]}
    copy, *counts = copied(source)
    assert all(np.array_equal(copy[name], source[name]) for name in source)
    assert counts[0] == 0 and counts[1] < table.nbytes // 16
    assert copy["left"].flags.owndata and copy["last"].flags.c_contiguous
    copy["rows"][3, 1] = -1
    assert copy["corner"][0] == -1 and table[3, 3] >= 0
    assert not np.shares_memory(copy["left"], copy["last"])


def test_views_of_one_block_are_copied_as_one_block():
    x = byre.to_pages((np.arange(100_001) % 251).astype("u1"))
    views = {"low": x[:50_000], "high": x[50_000:]}
    copy, *counts = copied(views, lazy=True)
    assert counts == [1, 0] and all(same(copy[name], views[name]) for name in views)
    outside = np.arange(9)
    assert copied([outside[1:], outside])[1:] == (0, outside.nbytes)


def test_many_small_arrays_moved_to_pages_are_copied_lazily():
    tree = {str(n): np.full(n % 50, n, ["f4", "i8", "u1"][n % 3]) for n in range(20_000)}
    moved = byre.to_pages(tree)
    assert all(same(moved[name], tree[name]) for name in tree)
    addresses = sorted((x.__array_interface__["data"][0], x.nbytes) for x in moved.values() if x.size)
    assert all(address % 64 == 0 for address, _ in addresses)
    assert all(a + n <= b for (a, n), (b, _) in zip(addresses, addresses[1:]))
    assert byre.is_lazy(moved) and byre.copy(moved, lazy=True)
    for x in moved.values():
        x[:] = x.copy()
    assert byre.copy(moved, lazy=True)  # copies whole blocks lazily, although much was written
    copy, lazy_copies, bytes_copied = copied(moved)
    nbytes = sum(-(-n // 64) * 64 for _, n in addresses)
    assert bytes_copied == 0 and nbytes >> 20 <= lazy_copies <= (nbytes >> 20) + 2
    moved["7"][:] = 1
    assert all(same(copy[name], tree[name]) for name in tree)


REFUSED = [
    (np.zeros(10), ['the array "deep.0" of 80 bytes', "not in pages", "byre.to_pages()"]),
    (np.broadcast_to(ramp(), (2, N)), ["elements are not dense", "lazy=None"]),
    (np.array([{}], object), ["holds Python objects", "lazy=None"]),
    (np.ma.masked_array(ramp()), ["a copy() of its own"]),
    (byre.zeros((1024, 1024))[3, :10], ["cannot copy 80 bytes lazily", "less than half of a block"]),
]


@pytest.mark.parametrize("source, words", REFUSED)
def test_lazy_true_rejects_a_tree_before_any_copy(source, words):
    before, tree = byre.stats(), {"a": ramp(), "deep": [source]}
    with refused(byre.CopyRefused, *words):
        byre.copy(tree, lazy=True)
    with byre.no_copies(), refused(RuntimeError, *words[1:]):
        byre.copy(source)
    assert (byre.stats() - before)[:3] == (0, 0, 0)
    assert not byre.is_lazy(source) and not byre.is_lazy(tree)
    assert byre.is_lazy({"a": ramp(), "b": 3, "empty": np.empty(0)})


def test_explain_has_a_line_per_block_and_per_other_array():
    x = ramp()
    text = byre.explain({"low": x[:100], "high": x[100:], "small": np.zeros(2), "objects": np.array([{}])})
    assert text.startswith('array "low", array "high": ') and len(text.split("\n")) == 3
    assert '\narray "small": copied immediately: its memory is not in pages of byre' in text
    assert '\narray "objects": copied immediately: it holds Python objects' in text
    text = byre.explain([x[number::10] for number in range(10)])
    assert text.startswith(f'array "0", array "1", array "2" and 7 more: {x.nbytes} bytes at ')
    assert byre.explain(x).startswith("array: ") and byre.explain(np.empty(0)).endswith(": it has no elements")
