# SPDX-License-Identifier: BSL-1.0
"""The arrays and tensors of a tree, the memory that they cover and share, and views of copies of that memory."""
from __future__ import annotations

import collections
import copyreg
import dataclasses
import os
import types
from typing import Any

import numpy as np
from byre import _byre, _torch
from byre._errors import ArgumentError

LINE_NBYTES = 64  # the alignment of packed arrays
_SEQUENCES = (list, tuple, set, frozenset, collections.deque)
_ATOMS = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)
_SCALARS = {bool, int, float, complex, str, bytes, type(None)}  # copy.deepcopy() returns these unchanged
_UNNAMED = ("_parameters", "_buffers", "_modules")  # attributes of nn.Module; state_dict() omits them in names


@dataclasses.dataclass(frozen=True, eq=False)
class Leaf:
    """An array or tensor, and its extent from address lo to hi. lo == hi if it has no elements or no plain memory."""

    name: str
    value: Any
    lo: int
    hi: int

    @property
    def nbytes(self) -> int:
        value = self.value
        return int(value.nbytes if isinstance(value, np.ndarray) else value.numel() * value.element_size())

    @property
    def title(self) -> str:
        kind = "array" if isinstance(self.value, np.ndarray) else "tensor"
        return f'{kind} "{self.name}"' if self.name else kind


def address_of(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


def layout_of(x: Any) -> tuple[int, tuple[int, ...], tuple[int, ...], int]:
    """The address, shape, strides in bytes and item size of an array or tensor."""
    if isinstance(x, np.ndarray):
        return address_of(x), x.shape, x.strides, x.itemsize
    itemsize = x.element_size()
    return x.data_ptr(), tuple(x.shape), tuple(stride * itemsize for stride in x.stride()), itemsize


def _is_plain(x: Any) -> bool:
    if not isinstance(x, np.ndarray):
        return _torch.is_plain(x)
    return type(x).copy is np.ndarray.copy and x.dtype.kind in "biufcmMSUV" and not x.dtype.hasobject


def leaf_of(name: str, x: Any) -> Leaf:
    if not _is_plain(x) or 0 in x.shape:
        return Leaf(name, x, 0, 0)
    address, shape, strides, itemsize = layout_of(x)
    steps = [stride * (n - 1) for stride, n in zip(strides, shape)]
    return Leaf(name, x, address + sum(s for s in steps if s < 0), address + sum(s for s in steps if s > 0) + itemsize)


def is_dense(leaf: Leaf) -> bool:
    """True if a copy with order="K" has the leaf's strides: the elements are aligned and adjacent in some order."""
    _, shape, strides, expected = layout_of(leaf.value)
    for stride, n in sorted((stride, n) for stride, n in zip(strides, shape) if n > 1):
        if stride != expected:
            return False
        expected *= n
    return not isinstance(leaf.value, np.ndarray) or leaf.value.flags.aligned


def is_leaf(x: Any) -> bool:
    return isinstance(x, np.ndarray) or _torch.is_tensor(x)


def _children(x: Any, of_any_class: bool) -> list[tuple[Any, Any]] | None:
    """The name and value of each part of a container, or None if x is not a container."""
    if isinstance(x, _ATOMS) or type(x) in _SCALARS:
        return None
    parts, slots = [], copyreg._slotnames(type(x))  # type: ignore[attr-defined]
    if isinstance(x, (dict, *_SEQUENCES)):
        parts = list(x.items() if isinstance(x, dict) else enumerate(x))
    elif hasattr(type(x), "__deepcopy__") and not isinstance(x, _torch.owner_types()[:1]):
        return None
    elif not (of_any_class or dataclasses.is_dataclass(x)) or not (slots or hasattr(x, "__dict__")):
        return None
    parts += [(name, getattr(x, name)) for name in slots if hasattr(x, name)]
    return parts + list(getattr(x, "__dict__", {}).items())


def walk(tree: Any, operation: str, *, of_any_class: bool = True,
         stop: tuple[type, ...] = ()) -> tuple[list[Leaf], list[Any]]:
    """The leaves of a tree, each once, and its atoms: dict keys, objects of types in `stop`, and objects without parts.

    Instances are containers if they are dataclasses, or if `of_any_class` is set.
    """
    seen, leaves, atoms, todo = {}, [], [], [("", tree)]
    while todo:
        name, x = todo.pop()
        if id(x) in seen:
            continue
        seen[id(x)] = x
        parts = None
        if is_leaf(x):
            leaves.append(leaf_of(name, x))
            parts = _torch.gradient(x)
        elif isinstance(x, stop) or (parts := _children(x, of_any_class)) is None:
            if x is tree and not isinstance(x, stop):
                raise ArgumentError(f"{operation}: unsupported type {type(x).__name__}. Pass an array, a tensor, or a "
                                    "container of these: a dict, list, tuple, dataclass or torch.nn.Module.")
            atoms.append(x)
        elif isinstance(x, dict):
            atoms += x
        for key, part in reversed(parts or []):
            if type(part) not in _SCALARS:
                todo.append((name if key in _UNNAMED else f"{name}.{key}" if name else str(key), part))
    return leaves, atoms


@dataclasses.dataclass(eq=False)
class Group:
    """Leaves whose address ranges overlap, and the range from lo up to hi that all of them cover."""

    lo: int
    hi: int
    leaves: list[Leaf]

    @property
    def is_packed(self) -> bool:
        """True for a single leaf whose copy has other strides: NumPy and PyTorch pack the elements of a copy."""
        return len(self.leaves) == 1 and not is_dense(self.leaves[0])

    @property
    def start(self) -> int:
        """The address at which a copy of the group begins, so that the leaves keep their alignment."""
        return self.lo if len(self.leaves) == 1 else self.lo & -LINE_NBYTES


def grouped(leaves: list[Leaf], extents: dict[Leaf, tuple[int, int]] | None = None) -> list[Group]:
    """Groups of leaves whose address ranges overlap, in the order of the leaves."""
    extents = extents or {leaf: (leaf.lo, leaf.hi) for leaf in leaves}
    positions = {leaf: number for number, leaf in enumerate(leaves)}
    groups: list[Group] = []
    for leaf in sorted(leaves, key=extents.__getitem__):
        lo, hi = extents[leaf]
        if not groups or lo >= groups[-1].hi:
            groups.append(Group(lo, hi, []))
        groups[-1].hi = max(groups[-1].hi, hi)
        groups[-1].leaves.append(leaf)
    return sorted(groups, key=lambda group: min(positions[leaf] for leaf in group.leaves))


def split_by_elements(group: Group) -> list[Group]:
    """Splits a group by common elements if more than half of its extent is gaps, as for two columns of a wide table."""
    if len(group.leaves) > 100 or group.hi - group.lo <= 2 * sum(leaf.nbytes for leaf in group.leaves):
        return [group]
    parts: list[list[Leaf]] = []
    for leaf in group.leaves:
        touched = [part for part in parts if any(_overlap(leaf, other) for other in part)]
        parts = [part for part in parts if part not in touched] + [sum(touched, []) + [leaf]]
    return [Group(min(leaf.lo for leaf in part), max(leaf.hi for leaf in part), part) for part in parts]


def _overlap(a: Leaf, b: Leaf) -> bool:
    """False if the two have no common element."""
    def elements_of(leaf: Leaf) -> np.ndarray[Any, Any]:
        address, shape, strides, itemsize = layout_of(leaf.value)
        memory = bytes_at(leaf.lo, leaf.hi - leaf.lo, leaf)
        return np.ndarray(shape, f"V{itemsize}", memory, address - leaf.lo, strides)

    try:
        return np.shares_memory(elements_of(a), elements_of(b), max_work=1000)
    except RuntimeError:  # the exact answer would take too long
        return True


def round_up_to_lines(nbytes: int) -> int:
    """Rounds up to a multiple of LINE_NBYTES."""
    return -(-nbytes // LINE_NBYTES) * LINE_NBYTES


def bytes_at(address: int, nbytes: int, owner: object) -> np.ndarray[Any, Any]:
    """An array of the bytes at an address. It keeps their owner alive."""
    interface = {"data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3}
    memory = types.SimpleNamespace(__array_interface__=interface, owner=owner)
    return np.asarray(memory) if nbytes else np.empty(0, np.uint8)


def mapped(file: Any) -> np.ndarray[Any, Any]:
    """The bytes of an open file, mapped by its descriptor, because its name may refer to another file by now."""
    path = f"/proc/self/fd/{file.fileno()}"
    return _byre.map_file(os.fsencode(path if os.path.exists(path) else file.name))


def views(leaves: list[Leaf], memory: np.ndarray[Any, Any], start: int) -> dict[int, Any]:
    """A view that equals each leaf, by the leaf's id. `memory` is a copy of the bytes from the address `start` on."""
    found: dict[int, Any] = {}
    storages: dict[tuple[int, int], Any] = {}
    for x in [leaf.value for leaf in leaves]:
        if isinstance(x, np.ndarray):
            found[id(x)] = np.ndarray(x.shape, x.dtype, memory, address_of(x) - start, x.strides)
            if type(x) is not np.ndarray:
                found[id(x)] = found[id(x)].view(type(x))
                found[id(x)].__array_finalize__(x)
        else:
            found[id(x)] = _torch.view(x, memory, start, storages)
    return found


def move(group: Group, memory: np.ndarray[Any, Any]) -> dict[int, Any]:
    """Copies the bytes of a group to `memory`, and returns views of `memory` by the ids of the leaves."""
    memory[group.lo - group.start :] = bytes_at(group.lo, group.hi - group.lo, group)
    return views(group.leaves, memory, group.start)
