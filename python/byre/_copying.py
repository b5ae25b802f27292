# SPDX-License-Identifier: BSL-1.0
"""Copies of arrays, tensors and trees of these: lazy if their memory is pages of byre."""
from __future__ import annotations

import contextlib
import copy as _copy
import itertools
import os
import sys
import types
from typing import Any, Iterator, TypeVar

import numpy as np
from byre import _blocks, _byre, _leaves, _torch
from byre._errors import CopyRefused
from byre._leaves import Group, Leaf

_Tree = TypeVar("_Tree")
_Blocks = dict[int, list[Group]]  # the groups in each block, by the address of the block


def planned(x: Any, operation: str, lazy: bool | None = None) -> tuple[list[Leaf], _Blocks, list[Group]]:
    """The leaves (arrays and tensors) of x, the groups of leaves in each block, and the groups to copy immediately."""
    leaves, _ = _leaves.walk(x, operation)
    for leaf in leaves if operation != "send" else ():  # a pickle may omit parts of x
        _torch.expect_usable(leaf, operation)
    blocks: _Blocks = {}
    at_once = [Group(0, 0, [leaf]) for leaf in leaves if leaf.lo == leaf.hi]
    groups = _leaves.grouped([leaf for leaf in leaves if leaf.lo < leaf.hi])
    for group in itertools.chain.from_iterable(map(_leaves.split_by_elements, groups)):
        start = None if lazy is False or group.is_packed else _byre.find(group.lo, group.hi - group.lo)
        (at_once if start is None else blocks.setdefault(start, [])).append(group)
    return leaves, blocks, at_once


def covered(groups: list[Group]) -> tuple[int, int]:
    """The bytes that leaves cover in a block: first with gaps from packing, then without (0 if a leaf is not dense)."""
    nbytes = sum(group.hi - group.lo for group in groups)
    dense_nbytes = nbytes if all(_leaves.is_dense(leaf) for group in groups for leaf in group.leaves) else 0
    if len(groups) == 1:
        return nbytes, dense_nbytes
    total = end = 0
    for group in sorted(groups, key=lambda group: group.lo):
        lo, hi = max(group.lo & -_leaves.LINE_NBYTES, end), max(_leaves.round_up_to_lines(group.hi), end)
        total, end = total + max(hi - lo, 0), hi
    return total, dense_nbytes


def _why_at_once(group: Group) -> str:
    if not any(leaf.nbytes for leaf in group.leaves):
        return "it has no elements"
    if group.lo < group.hi:
        if group.is_packed:
            return "its elements are not dense, and a copy packs them"
        return "its memory is not in pages of byre; call byre.to_pages() first"
    if isinstance(group.leaves[0].value, np.ndarray):
        return "it holds Python objects, or its class has a copy() of its own"
    return "it is not a dense torch.Tensor on the CPU"


def _why_block_at_once(start: int, groups: list[Group], must_be_lazy: bool) -> str:
    return _blocks.why_at_once(_byre.facts(start), *covered(groups), must_be_lazy)


def _copied_at_once(group: Group) -> tuple[dict[int, Any], int]:
    """The copy of each leaf, by the id of the leaf, and the number of copied bytes."""
    leaf, nbytes = group.leaves[0], group.hi - group.start
    if len(group.leaves) == 1:
        x = leaf.value
        return {id(x): x.copy(order="K") if isinstance(x, np.ndarray) else _torch.copied(x)}, leaf.nbytes
    memory = np.empty(nbytes + _leaves.LINE_NBYTES, np.uint8)
    begin = -_leaves.address_of(memory) % _leaves.LINE_NBYTES
    return _leaves.move(group, memory[begin : begin + nbytes]), group.hi - group.lo


def _copied_block(start: int, groups: list[Group], must_be_lazy: bool,
                  where: tuple[bytes, int]) -> dict[int, Any] | None:
    """The lazy copy of each leaf, by the id of the leaf, or None if the block must be copied immediately."""
    leaves = [leaf for group in groups for leaf in group.leaves]
    like = leaves[0].value if len(leaves) == 1 and type(leaves[0].value) is np.ndarray else None
    memory = _blocks.copy_block(start, *covered(groups), must_be_lazy, like, *where)
    if memory is None or like is not None:
        return None if memory is None else {id(like): memory}
    return _leaves.views(leaves, memory, start)


def copy(x: _Tree, lazy: bool | None = None) -> _Tree:
    """Copies an array, a tensor, or a tree of these. Source and copy share memory until one of them is written.

    Both may be written, even concurrently, by any library or pointer, and neither observes the other's writes. An array
    is copied immediately, not lazily, if it is small or if its memory is not in pages. Arrays that byre makes are in pages;
    byre.to_pages() moves others. lazy=True raises byre.CopyRefused instead of copying immediately; lazy=False copies
    everything immediately.

    A tree is a dict, list, tuple, dataclass, torch.nn.Module or another object that copy.deepcopy() copies by its
    attributes; byre copies it in this way, too. Arrays that overlap also overlap in the copy. Objects with a method
    __deepcopy__ copy themselves immediately. Arrays of Python objects share these objects, as in numpy.copy().

    Raises ArgumentError for an unsupported type. A lazy copy of a gigabyte in huge pages takes about a millisecond;
    pages that were written since the last copy are copied. A concurrent write to x is a data race.

    >>> weights = byre.zeros((1000, 1000))
    >>> snapshot = byre.copy(weights)
    >>> weights[0, 0] = 1
    >>> print(snapshot[0, 0], weights[0, 0])
    0.0 1.0
    """
    return copied(x, lazy, place_of(sys._getframe().f_back))


def place_of(caller: types.FrameType | None) -> tuple[bytes, int]:
    """The file and line that explain() names for a copy."""
    caller = caller or sys._getframe()
    return os.fsencode(caller.f_code.co_filename), caller.f_lineno


def copied(x: _Tree, lazy: bool | None, where: tuple[bytes, int]) -> _Tree:
    """copy(), called by the line of a file."""
    leaves, blocks, at_once = planned(x, "copy", lazy)
    order = list(blocks)
    must_be_lazy = bool(lazy) or _blocks.copies_are_refused.get()
    if must_be_lazy:
        for group in at_once:
            if leaf := next((leaf for leaf in group.leaves if leaf.nbytes), None):
                reason = "lazy=False requests an immediate copy" if lazy is False else _why_at_once(group)
                raise CopyRefused(f"copy: cannot copy the {leaf.title} of {leaf.nbytes} bytes lazily: {reason}. "
                                  f"{_blocks.ALLOW_COPIES}")
        # Blocks that cannot be copied lazily come first, so that the error is raised before any copy is made.
        order.sort(key=lambda start: not _why_block_at_once(start, blocks[start], True))
    copies: dict[int, Any] = {}
    for start in order:
        lazily = _copied_block(start, blocks[start], must_be_lazy, where)
        if lazily is None:
            at_once += blocks[start]
        else:
            copies.update(lazily)
    for group in at_once:
        made, nbytes = _copied_at_once(group)
        copies.update(made)
        if nbytes:
            _byre.count_copy(group.lo, nbytes, *where)
    _torch.set_gradients(leaves, copies)
    return _copy.deepcopy(x, copies)


def is_lazy(x: Any) -> bool:
    """True if byre.copy(x) copies nothing immediately. Raises ArgumentError for an unsupported type.

    >>> byre.is_lazy(byre.zeros((1000, 1000))), byre.is_lazy(np.zeros((1000, 1000)))
    (True, False)
    """
    _, blocks, at_once = planned(x, "is_lazy")
    copied_nbytes = sum(leaf.nbytes for group in at_once for leaf in group.leaves)
    return not copied_nbytes and not any(_why_block_at_once(*item, False) for item in blocks.items())


def explain(x: Any) -> str:
    """Describes how byre.copy(x) copies and which pages are shared: a line for each block and each other array.

    >>> byre.explain({"small": np.zeros(2)})
    'array "small": copied immediately: its memory is not in pages of byre; call byre.to_pages() first'
    """
    _, blocks, at_once = planned(x, "explain")
    reasons = [(groups, _blocks.explain(start, groups[0].lo, *covered(groups))) for start, groups in blocks.items()]
    reasons += [([group], f"copied immediately: {_why_at_once(group)}") for group in at_once]
    lines = []
    for groups, reason in reasons:
        titles = [leaf.title for group in groups for leaf in group.leaves]
        lines.append(", ".join(titles[:3]) + (f" and {len(titles) - 3} more" if titles[3:] else "") + f": {reason}")
    return "\n".join(lines)


@contextlib.contextmanager
def no_copies() -> Iterator[None]:
    """Makes byre.copy() raise byre.CopyRefused instead of copying immediately within a `with` block, as lazy=True does.

    The setting holds for the thread or the asyncio task that entered the block; blocks nest.

    >>> with byre.no_copies():
    ...     byre.copy(np.zeros(1000))
    Traceback (most recent call last):
        ...
    byre.CopyRefused: copy: cannot copy the array of 8000 bytes lazily: its memory is not in pages of byre; ...
    """
    token = _blocks.copies_are_refused.set(True)
    try:
        yield
    finally:
        _blocks.copies_are_refused.reset(token)
