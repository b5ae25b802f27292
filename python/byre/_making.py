# SPDX-License-Identifier: BSL-1.0
"""Arrays in pages of byre, whose copies are lazy."""
from __future__ import annotations

import copy as _copy
from typing import Any, Sequence, TypeVar

import numpy as np
from byre import _byre, _leaves, _torch
from byre._blocks import SMALL_NBYTES, pages

_Tree = TypeVar("_Tree")
_PACK_NBYTES = (1 << 20) - SMALL_NBYTES  # a block of packed arrays is full from this size on, and has at most 1 MiB


array = pages()(np.array)
empty = pages()(np.empty)
zeros = pages()(np.zeros)
ones = pages()(np.ones)
full = pages()(np.full)
for _make in (array, empty, zeros, ones, full):
    _make.__doc__, _make.__module__ = f"np.{_make.__name__}() within byre.pages().", "byre"


def allocate(sizes: Sequence[int]) -> list[np.ndarray[Any, Any]]:
    """Uninitialized bytes in pages: a block for each size of at least 64 KiB, and shared blocks for smaller sizes.

    Avoids blocks below 64 KiB, because copies of small blocks are never lazy.
    """
    blocks = [[number] for number, nbytes in enumerate(sizes) if nbytes >= SMALL_NBYTES]
    pack_nbytes = _PACK_NBYTES
    for number, nbytes in enumerate(sizes):
        if nbytes < SMALL_NBYTES:
            if pack_nbytes >= _PACK_NBYTES:
                blocks.append([])
                pack_nbytes = 0
            blocks[-1].append(number)
            pack_nbytes += _leaves.round_up_to_lines(nbytes)
    if blocks[1:] and pack_nbytes < SMALL_NBYTES:
        last = blocks.pop()
        blocks[-1] += last
    memory: dict[int, np.ndarray[Any, Any]] = {}
    for numbers in blocks:
        with pages(min_nbytes=0):
            block = np.empty(sum(_leaves.round_up_to_lines(sizes[number]) for number in numbers), np.uint8)
        _byre.set_used(_leaves.address_of(block), sum(sizes[number] for number in numbers))
        for number in numbers:
            memory[number], block = block[: sizes[number]], block[_leaves.round_up_to_lines(sizes[number]) :]
    return [memory[number] for number in range(len(sizes))]


def _moved(leaves: list[_leaves.Leaf]) -> dict[int, Any]:
    """Each leaf in pages, by the leaf's id. Leaves that cannot move or need not move are returned unchanged."""
    hulls: dict[Any, tuple[int, int]] = {}  # the joint extent of the tensors of each storage: they move together
    keys: dict[_leaves.Leaf, Any] = {}
    for leaf in [leaf for leaf in leaves if leaf.lo < leaf.hi]:
        keys[leaf] = _torch.storage_key(leaf.value) if _torch.is_tensor(leaf.value) else leaf
        lo, hi = hulls.get(keys[leaf], (leaf.lo, leaf.hi))
        hulls[keys[leaf]] = min(lo, leaf.lo), max(hi, leaf.hi)
    moved = {id(leaf.value): leaf.value for leaf in leaves}
    groups, strided = [], {}
    for group in _leaves.grouped(list(keys), {leaf: hulls[key] for leaf, key in keys.items()}):
        leaf = group.leaves[0]
        if _byre.find(group.lo, group.hi - group.lo):
            continue
        if group.is_packed and isinstance(leaf.value, np.ndarray):
            dense = _leaves.leaf_of(leaf.name, np.empty_like(leaf.value))
            group = _leaves.Group(dense.lo, dense.hi, [dense])
            strided[id(dense.value)] = leaf.value
        groups.append(group)
    for group, memory in zip(groups, allocate([group.hi - group.start for group in groups])):
        source = strided.get(id(group.leaves[0].value))
        if source is None:
            moved.update(_leaves.move(group, memory))
        else:
            (moved[id(source)],) = _leaves.views(group.leaves, memory, group.start).values()
            moved[id(source)][...] = source
    return moved


def to_pages(tree: _Tree) -> _Tree:
    """The tree with its arrays and tensors in pages, so that copies of them are lazy.

    Arrays and tensors that are in pages already are returned unchanged. Others are copied into pages once, with their
    strides and with the memory that they share. Small ones are packed into blocks of up to 1 MiB. Dicts, lists, tuples
    and dataclasses are new. A torch.nn.Module or torch.optim.Optimizer is returned itself, and its tensors move in
    place. Everything else is returned unchanged: other objects, arrays of objects, arrays of a class with its own
    copy(), sparse tensors. Raises ArgumentError for an unsupported type. A concurrent write to the tree is a data race.

    >>> state = byre.to_pages({"weights": np.ones((1000, 1000)), "bias": np.zeros(1000)})
    >>> byre.is_lazy(state["weights"])
    True
    """
    owner_types = _torch.owner_types()
    leaves, atoms = _leaves.walk(tree, "to_pages", of_any_class=False, stop=owner_types)
    owned, _ = _leaves.walk([atom for atom in atoms if isinstance(atom, owner_types)], "to_pages")
    in_place = {id(leaf.value): leaf for leaf in owned if _torch.is_tensor(leaf.value) and leaf.value.is_leaf}
    leaves = [leaf for leaf in leaves if id(leaf.value) not in in_place] + list(in_place.values())
    for leaf in leaves:
        _torch.expect_usable(leaf, "to_pages")
    moved = _moved(leaves)
    for key, leaf in in_place.items():
        if moved[key] is not leaf.value:
            leaf.value.data = moved[key].detach()
        moved[key] = leaf.value
    _torch.set_gradients(leaves, moved)
    return _copy.deepcopy(tree, {**{id(atom): atom for atom in atoms}, **moved})
