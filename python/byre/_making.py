# SPDX-License-Identifier: BSL-1.0
"""Arrays whose memory is pages of byre, so that copies of them are lazy."""
from __future__ import annotations

import contextlib
import copy as _copy
from typing import Any, Iterator, Sequence, TypeVar

import numpy as np
from byre import _byre, _groups, _leaves, _torch

_Tree = TypeVar("_Tree")
SMALL_NBYTES = 64 << 10  # smaller arrays share blocks
_PACK_NBYTES = 1 << 20


@contextlib.contextmanager
def pages(min_nbytes: int = SMALL_NBYTES) -> Iterator[None]:
    """Has NumPy itself allocate arrays of at least `min_nbytes` bytes from pages within a `with` block.

    The setting holds for the thread or the asyncio task that entered the block, and blocks nest. Arrays of any library
    that asks NumPy for memory are included.

    >>> with byre.pages():
    ...     grid = np.ones((1000, 1000))
    >>> byre.is_lazy(grid)
    True
    """
    if min_nbytes < 0:
        raise _byre.ArgumentError(f"pages: min_nbytes is {min_nbytes}. Pass a number of bytes of at least 0.")
    before = _byre.set_handler(min_nbytes)
    try:
        yield
    finally:
        _byre.reset_handler(before)


def array(x: Any, dtype: Any = None, *, order: Any = "K", subok: bool = False, ndmin: int = 0) -> np.ndarray:
    """np.array() within byre.pages().

    >>> byre.array([[1, 2], [3, 4]], dtype="float32")
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    with pages():
        return np.array(x, dtype, order=order, subok=subok, ndmin=ndmin)


def empty(shape: Any, dtype: Any = float, order: Any = "C") -> np.ndarray:
    """np.empty() within byre.pages().

    >>> byre.empty((2, 3), "int8").shape
    (2, 3)
    """
    with pages():
        return np.empty(shape, dtype, order)


def zeros(shape: Any, dtype: Any = float, order: Any = "C") -> np.ndarray:
    """np.zeros() within byre.pages().

    >>> byre.zeros(3)
    array([0., 0., 0.])
    """
    with pages():
        return np.zeros(shape, dtype, order)


def ones(shape: Any, dtype: Any = None, order: Any = "C") -> np.ndarray:
    """np.ones() within byre.pages().

    >>> byre.ones(3, "int64")
    array([1, 1, 1])
    """
    with pages():
        return np.ones(shape, dtype, order)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> np.ndarray:
    """np.full() within byre.pages().

    >>> byre.full(3, 1.5)
    array([1.5, 1.5, 1.5])
    """
    with pages():
        return np.full(shape, fill_value, dtype, order)


def allocate(sizes: Sequence[int]) -> list[np.ndarray]:
    """Uninitialized bytes in pages: a block for each size of at least 64 KiB, and shared blocks for those below.

    No block stays below 64 KiB if it can be avoided, because copies of small blocks are never lazy.
    """
    blocks = [[number] for number, nbytes in enumerate(sizes) if nbytes >= SMALL_NBYTES]
    pack: list[int] = []
    pack_nbytes = 0
    for number, nbytes in enumerate(sizes):
        if nbytes < SMALL_NBYTES:
            if pack_nbytes + nbytes > _PACK_NBYTES:
                blocks.append(pack)
                pack, pack_nbytes = [], 0
            pack.append(number)
            pack_nbytes += _groups.in_lines(nbytes)
    if blocks and pack_nbytes < SMALL_NBYTES:
        blocks[-1] += pack
    else:
        blocks.append(pack)
    memory: dict[int, np.ndarray] = {}
    for numbers in blocks:
        with pages(min_nbytes=0):
            block = np.empty(sum(_groups.in_lines(sizes[number]) for number in numbers), np.uint8)
        for number in numbers:
            memory[number], block = block[: sizes[number]], block[_groups.in_lines(sizes[number]) :]
    return [memory[number] for number in range(len(sizes))]


def _groups_to_move(leaves: list[_leaves.Leaf]) -> list[_groups.Group]:
    """Leaves by memory that moves together: what overlaps, and tensors that share a storage."""
    hulls: dict[Any, tuple[int, int]] = {}
    keys: dict[_leaves.Leaf, Any] = {}
    for leaf in leaves:
        keys[leaf] = _torch.storage_key(leaf.value) if _torch.is_tensor(leaf.value) else leaf
        lo, hi = hulls.get(keys[leaf], (leaf.lo, leaf.hi))
        hulls[keys[leaf]] = min(lo, leaf.lo), max(hi, leaf.hi)
    return _groups.grouped(leaves, lambda leaf: hulls[keys[leaf]])


def _moved(leaves: list[_leaves.Leaf]) -> dict[int, Any]:
    """What each leaf is in pages, by the leaf's id. Leaves that cannot or need not move stay themselves."""
    moved = {id(leaf.value): leaf.value for leaf in leaves}
    groups: list[tuple[_groups.Group, Any]] = []
    for group in _groups_to_move([leaf for leaf in leaves if leaf.lo < leaf.hi]):
        leaf = group.leaves[0]
        if _byre.find(group.lo, group.hi - group.lo):
            continue
        if len(group.leaves) == 1 and isinstance(leaf.value, np.ndarray) and not _leaves.is_dense(leaf):
            dense = _leaves.leaf_of(leaf.name, np.empty_like(leaf.value))
            group = _groups.Group(dense.lo, dense.hi, [dense])
            groups.append((group, leaf.value))
        else:
            groups.append((group, None))
    for (group, source), memory in zip(groups, allocate([group.hi - group.start for group, _ in groups])):
        if source is None:
            moved.update(_groups.move(group, memory))
        else:
            moved[id(source)] = _groups.Moved(memory, group.start).view(group.leaves[0].value)
            moved[id(source)][...] = source
    return moved


def to_pages(tree: _Tree) -> _Tree:
    """The tree with its arrays and tensors in pages, so that copies of it are lazy.

    Arrays and tensors that are in pages already stay themselves; others are copied into pages once, with their strides
    and with the memory that they share. Small ones are packed into blocks of up to 1 MiB. Dicts, lists, tuples and
    dataclasses are new; a torch.nn.Module or torch.optim.Optimizer stays itself, and its tensors move in place. All
    else stays as it is: other objects, arrays of objects or of a class with its own copy(), sparse tensors.

    >>> state = byre.to_pages({"weights": np.ones((1000, 1000)), "bias": np.zeros(1000)})
    >>> byre.is_lazy(state["weights"])
    True
    """
    owner_types = _torch.owner_types()
    if not isinstance(tree, owner_types):
        _leaves.expect_tree(tree, "to_pages", of_any_class=False)
    leaves, atoms = _leaves.walk(tree, of_any_class=False, stop=owner_types)
    owned, _ = _leaves.walk([atom for atom in atoms if isinstance(atom, owner_types)])
    in_place = {id(leaf.value): leaf for leaf in owned if _torch.is_tensor(leaf.value) and leaf.value.is_leaf}
    leaves = [leaf for leaf in leaves if id(leaf.value) not in in_place]
    for leaf in leaves:
        _torch.expect_no_graph(leaf, "to_pages")
    leaves += in_place.values()
    for leaf in leaves:
        _torch.expect_on_cpu(leaf, "to_pages")
    moved = _moved(leaves)
    for key, leaf in in_place.items():
        if moved[key] is not leaf.value:
            leaf.value.data = moved[key].detach()
        moved[key] = leaf.value
    _torch.set_gradients(leaves, moved)
    return _copy.deepcopy(tree, {**{id(atom): atom for atom in atoms}, **moved})
