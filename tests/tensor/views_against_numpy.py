#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Repeats random programs of views and writes with NumPy. Each view must have equal sizes, strides and offsets in
byre and in NumPy, or both must reject the view. At the end, all elements must be equal. print_views.cpp describes the
format of printed programs. The seed is printed; the environment variable BYRE_TEST_SEED sets it."""

import json
import math
import re
import subprocess
import sys

try:
    import numpy
    from numpy.lib.stride_tricks import as_strided, sliding_window_view
except ImportError:
    print("NumPy is not installed. Install python3-numpy (Debian).")
    sys.exit(77)

PROGRAMS = 2500
DTYPES = {"u8": "u1", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "f16": "f2", "f32": "f4", "f64": "f8",
          "complex64": "c8", "bf16": "u2"}  # u2 has the bits of bf16
CONSTANTS = {"none": None, "true": True, "false": False, "bool": "bool"}


class Refused(Exception):
    """The view is invalid."""


class Unknown(Exception):
    """NumPy does not define whether this view without elements is valid. The rest of the program is skipped."""


class Tensor:
    """`array` is a view of `base`, the bytes of a storage. Its first element is at byte `offset`."""

    def __init__(self, array, base):
        self.base, self.offset, self.array = base, 0, numpy.empty(array.shape, array.dtype)
        if array.size:
            self.offset = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            # Writable, unlike most of NumPy's views that may overlap.
            self.array = numpy.ndarray(array.shape, array.dtype, base, self.offset, array.strides)


def at(x, axis):
    """The axis as an index from 0."""
    if not -x.ndim <= axis < x.ndim:
        raise Refused
    return axis % x.ndim


def along(x, axis, index):
    return x[(slice(None),) * at(x, axis) + (index, Ellipsis)]


def viewed(x, sizes):
    other = x.reshape(sizes)
    if x.size and not numpy.may_share_memory(x, other):
        raise Refused
    return other


def cut(x, axis, lengths):
    ends = numpy.cumsum([0, *lengths])
    if ends[-1] != x.shape[at(x, axis)]:
        raise Refused
    return [along(x, axis, slice(start, end)) for start, end in zip(ends, ends[1:])]


def in_pieces(x, axis, size):
    present = x.shape[at(x, axis)]
    if size == 0 and present:
        raise Refused
    return cut(x, axis, [min(size, present - start) for start in range(0, present, size or 1)] or [0])


def squeezed(x, axis):
    if x.ndim == 0 and axis in (-1, 0):
        return x
    return x.squeeze(axis) if x.shape[at(x, axis)] == 1 else x


def flattened(x, first=0, last=-1):
    if x.ndim == 0 and {first, last} <= {-1, 0}:
        return x[None]
    first, last = at(x, first), at(x, last)
    if first > last:
        raise Refused
    return viewed(x, x.shape[:first] + (math.prod(x.shape[first:last + 1]),) + x.shape[last + 1:])


def expanded(x, sizes):
    new = len(sizes) - x.ndim
    if new < 0 or -1 in sizes[:new]:
        raise Refused
    return numpy.broadcast_to(x, [x.shape[axis - new] if size == -1 else size for axis, size in enumerate(sizes)])


def narrowed(x, axis, start, length):
    size = x.shape[at(x, axis)]
    start += size if start < 0 else 0
    if not 0 <= start <= start + length <= size:
        raise Refused
    return along(x, axis, slice(start, start + length))


def unfolded(x, axis, size, step):
    if x.ndim == 0 and axis in (-1, 0) and size < 2:
        return x[None][:size]  # the only window; sliding_window_view rejects x.ndim == 0
    return along(sliding_window_view(x, size, at(x, axis)), at(x, axis), slice(None, None, step))


def in_chunks(x, count, axis=0):
    size = math.ceil(x.shape[at(x, axis)] / count)
    return in_pieces(x, axis, size) if size else cut(x, axis, [0] * count)


# Functions that make NumPy's views, by operator of byre. An array without dimensions accepts the axes 0 and -1.
VIEWS = {
    "alias": lambda x: x,
    "view": viewed,
    "permute": numpy.transpose,
    "transpose": lambda x, a, b: x if x.ndim == 0 and {a, b} <= {-1, 0} else x.swapaxes(at(x, a), at(x, b)),
    "t": lambda x: x if x.ndim < 2 else x.transpose(1, 0),
    "movedim": numpy.moveaxis,
    "squeeze": numpy.squeeze,
    "squeeze.axis": squeezed,
    "unsqueeze": numpy.expand_dims,
    "flatten": flattened,
    "expand": expanded,
    "select": along,
    "slice": lambda x, axis, start=0, end=None, step=1: along(x, axis, slice(start, end, step)),
    "narrow": narrowed,
    "diagonal": lambda x, offset=0, first=0, second=1: x.diagonal(offset, at(x, first), at(x, second)),
    "unfold": unfolded,
    "split": lambda x, size, axis=0: in_pieces(x, axis, size),
    "split.sizes": lambda x, sizes, axis=0: cut(x, axis, sizes),
    "chunk": in_chunks,
    "unbind": lambda x, axis=0: [along(x, axis, index) for index in range(x.shape[at(x, axis)])],
    "proof_corners": lambda x: x[(*(slice(None, None, max(size - 1, 1)) for size in x.shape), Ellipsis)],
}


def over_base(tensor, dtype, shape, strides):
    """A view of the storage's bytes from the start of the tensor. Raises Refused unless the stride of each dimension
    larger than 1 is a multiple of the item size."""
    itemsize = numpy.dtype(dtype).itemsize
    if not math.prod(shape):
        raise Unknown
    if tensor.offset % itemsize or any(stride % itemsize and size > 1 for size, stride in zip(shape, strides)):
        raise Refused
    strides = [stride if size > 1 else itemsize for size, stride in zip(shape, strides)]
    return numpy.ndarray(shape, dtype, tensor.base, tensor.offset, strides)


def strided(tensor, sizes, strides, offset=None):
    itemsize = tensor.array.itemsize
    base = tensor.base[:tensor.base.size // itemsize * itemsize].view(tensor.array.dtype)
    offset = tensor.offset // itemsize if offset is None else offset
    if 0 not in sizes and offset + sum((size - 1) * stride for size, stride in zip(sizes, strides)) >= base.size:
        raise Refused
    return as_strided(base[offset:], sizes, [itemsize * stride for stride in strides])


def view_dtype(tensor, dtype):
    shape, strides, old = tensor.array.shape, tensor.array.strides, tensor.array.itemsize
    if dtype == "bool":  # not every byte is a valid bool
        raise Refused
    if not tensor.array.size:
        raise Unknown
    new = numpy.dtype(DTYPES[dtype]).itemsize
    if new == old:
        return over_base(tensor, DTYPES[dtype], shape, strides)
    if not shape or shape[-1] * old % new or shape[-1] > 1 and strides[-1] != old:
        raise Refused
    return over_base(tensor, DTYPES[dtype], (*shape[:-1], shape[-1] * old // new), (*strides[:-1], new))


def view_as_real(tensor):
    if tensor.array.dtype != "c8":
        raise Refused
    return over_base(tensor, "f4", (*tensor.array.shape, 2), (*tensor.array.strides, 4))


def view_as_complex(tensor):
    shape, strides = tensor.array.shape, tensor.array.strides
    if tensor.array.dtype == "f4" and not tensor.array.size:
        raise Unknown
    if tensor.array.dtype != "f4" or not shape or shape[-1] != 2 or strides[-1] != 4:
        raise Refused
    return over_base(tensor, "c8", shape[:-1], strides[:-1])


# Views of the whole storage. Their first argument is the Tensor, not its array.
STORAGE_VIEWS = {"as_strided": strided, "view.dtype": view_dtype, "view_as_real": view_as_real,
                 "view_as_complex": view_as_complex}


WRITES = {"zero_": lambda x: 0, "copy_": lambda x, other: other.array, "sub_.scalar": lambda x, number: x.array - number}


def made(op, arguments):
    """The results of a step with NumPy. Raises Refused, Unknown, or an error such as ValueError."""
    if op == "arange":
        array = numpy.arange(arguments[0]).astype(DTYPES[arguments[1]])
        return [Tensor(array, array.view("u1"))]
    self, *constants = arguments
    parts = STORAGE_VIEWS[op](self, *constants) if op in STORAGE_VIEWS else VIEWS[op](self.array, *constants)
    return [Tensor(part, self.base) for part in (parts if isinstance(parts, list) else [parts])]


def difference(tensors, described):
    """States how byre's tensors differ from NumPy's; None if they are equal."""
    if len(tensors) != len(described):
        return f"byre returned {len(described)} tensors, NumPy {len(tensors)}"
    for tensor, (sizes, strides, offset) in zip(tensors, described):
        array = tensor.array
        if sizes != list(array.shape):
            return f"NumPy's shape is {array.shape}"
        numpys = [stride // array.itemsize for stride in array.strides]
        if array.size and any(size > 1 and ours != theirs for size, ours, theirs in zip(sizes, strides, numpys)):
            return f"NumPy's strides are {numpys}"
        if not array.size:
            tensor.offset = offset * array.itemsize  # NumPy does not retain the offset of an empty array
        if offset * array.itemsize != tensor.offset:
            return f"NumPy's offset is {tensor.offset} bytes"
    return None


class Programs:
    def __init__(self):
        self.program, self.tensors, self.lines = None, {}, []
        self.counts = {"steps": 0, "refused": 0, "unknown": 0, "compared": 0}
        self.ops = set()

    def wrong(self, line):
        """States how a printed line differs from NumPy; None if it agrees."""
        number, rest = line.split(" ", 1)
        if number != self.program:
            self.program, self.tensors, self.lines = number, {}, []
        self.lines.append(rest)
        if self.tensors is None:
            return None
        if step := re.fullmatch(r"(\w+) = ([\w.]+)\((.*)\) -> (.*)", rest):
            self.counts["steps"] += 1
            return self.wrong_step(*step.groups())
        name, elements, dtype = re.fullmatch(r'(\w+) = "(\w*)", "(\w+)"', rest).groups()
        self.counts["compared"] += 1
        array = self.tensors[name].array
        if array.dtype != DTYPES[dtype] or elements != array.tobytes().hex():
            return f"NumPy's elements are {array.dtype} {array.tobytes().hex()}"
        return None

    def wrong_step(self, name, op, arguments, answer):
        names = {**CONSTANTS, **{dtype: dtype for dtype in DTYPES}}
        try:
            given = eval(f"[{arguments}]", names, self.tensors)
            if op in WRITES:
                if answer != "refused":  # byre rejects overlapping operands; NumPy accepts them
                    given[0].array[...] = WRITES[op](*given)
                return None
            tensors = made(op, given)
        except Unknown:
            self.counts["unknown"] += 1
            self.tensors = None
            return None
        except (Refused, ValueError, IndexError, TypeError):
            self.counts["refused"] += 1
            return None if answer == "refused" else "NumPy refuses this step"
        if answer == "refused":
            return f"NumPy accepts this step and returns shape {tensors[0].array.shape}"
        self.ops.add(op)
        self.tensors.update((f"{name}_{part}" if part else name, each) for part, each in enumerate(tensors))
        return difference(tensors, json.loads(answer))


def main(program):
    printed = subprocess.run([program, str(PROGRAMS)], check=True, capture_output=True, text=True).stdout.splitlines()
    print(printed[0])  # the seed
    programs, failures = Programs(), 0
    for line in printed[1:]:
        if failures < 10 and (wrong := programs.wrong(line)):
            failures += 1
            print(*programs.lines, f"  {wrong}", sep="\n")
            programs.tensors = None  # skips the rest of this program
    print(programs.counts)
    missing = {*VIEWS, *STORAGE_VIEWS} - programs.ops
    if missing:
        print(f"operators that no program compared: {missing}")
    return 1 if failures or missing or programs.counts["unknown"] > PROGRAMS // 10 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
