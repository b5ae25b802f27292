# SPDX-License-Identifier: BSL-1.0
"""Leaves whose memory overlaps, and copies of that memory that keep what they share."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable

import numpy as np
from byre import _torch
from byre._leaves import Leaf, address_of

LINE_NBYTES = 64  # the alignment that packed arrays get


@dataclasses.dataclass(eq=False)
class Group:
    """Leaves whose extents overlap, from lo up to hi."""

    lo: int
    hi: int
    leaves: list[Leaf]

    @property
    def start(self) -> int:
        """Where a copy begins, so that the leaves keep their alignment."""
        return self.lo if len(self.leaves) == 1 else self.lo & -LINE_NBYTES


@dataclasses.dataclass(eq=False)
class Moved:
    """Copied bytes: `memory` holds those that lie at the address `start`."""

    memory: np.ndarray
    start: int
    storages: dict[tuple[int, int], Any] = dataclasses.field(default_factory=dict)

    def view(self, x: Any) -> Any:
        """The array or tensor x, of the copied bytes."""
        if not isinstance(x, np.ndarray):
            return _torch.view(x, self.memory, self.start, self.storages)
        array: np.ndarray = np.ndarray(x.shape, x.dtype, self.memory, address_of(x) - self.start, x.strides)
        if type(x) is not np.ndarray:
            array = array.view(type(x))
            array.__array_finalize__(x)
        return array


def in_lines(nbytes: int) -> int:
    """Rounds up to whole lines."""
    return -(-nbytes // LINE_NBYTES) * LINE_NBYTES


class _Memory:
    def __init__(self, address: int, nbytes: int, owner: object) -> None:
        self.__array_interface__ = {"data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3}
        self._owner = owner


def bytes_at(address: int, nbytes: int, owner: object) -> np.ndarray:
    """An array of the bytes at an address, which keeps their owner alive."""
    return np.asarray(_Memory(address, nbytes, owner)) if nbytes else np.empty(0, np.uint8)


def _extent(leaf: Leaf) -> tuple[int, int]:
    return leaf.lo, leaf.hi


def grouped(leaves: list[Leaf], extent: Callable[[Leaf], tuple[int, int]] = _extent) -> list[Group]:
    """Groups of leaves whose extents overlap, in the order of the leaves."""
    positions = {leaf: number for number, leaf in enumerate(leaves)}
    groups: list[Group] = []
    for leaf in sorted(leaves, key=extent):
        lo, hi = extent(leaf)
        if groups and lo < groups[-1].hi:
            groups[-1].hi = max(groups[-1].hi, hi)
            groups[-1].leaves.append(leaf)
        else:
            groups.append(Group(lo, hi, [leaf]))
    return sorted(groups, key=lambda group: min(positions[leaf] for leaf in group.leaves))


def move(group: Group, memory: np.ndarray) -> dict[int, Any]:
    """Copies the bytes of a group to `memory`; gives the views of it, by the ids of the leaves."""
    memory[group.lo - group.start :] = bytes_at(group.lo, group.hi - group.lo, group)
    moved = Moved(memory, group.start)
    return {id(leaf.value): moved.view(leaf.value) for leaf in group.leaves}
