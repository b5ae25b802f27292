#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Has NumPy and byre make the same random chains of views, and compares sizes, strides and elements
of every link exactly. The seed is printed, and taken back from the environment variable
BYRE_TEST_SEED."""

import json
import math
import os
import random
import subprocess
import sys

try:
    import numpy
    from numpy.lib.stride_tricks import as_strided, sliding_window_view
except ImportError:
    print("there is no NumPy: Debian has it as python3-numpy")
    sys.exit(77)

CHAINS = 3000
LINKS = 8
DTYPES = ["u1", "i4", "i8", "f4", "c8"]
VIEWED_AS = ["u1", "i2", "i4", "i8", "f4", "c8"]


class Refused(Exception):
    """No view can be that."""


def along(axis, index):
    return (slice(None),) * axis + (index, Ellipsis)


def viewed(array, sizes):
    other = array.reshape(sizes)
    if array.size and not numpy.may_share_memory(array, other):
        raise Refused
    return other


class Chain:
    """Links drawn at random. Each method returns the arguments to give to byre, and a function that
    makes NumPy's view."""

    def __init__(self, dice):
        self.dice = dice
        self.sizes = [dice.choice((0, 1, 1, 2, 3, 4, 5)) if dice.random() < 0.9 else 1
                      for _ in range(dice.randrange(5))]
        self.dtype = dice.choice(DTYPES)
        nbytes = math.prod(self.sizes) * numpy.dtype(self.dtype).itemsize
        self.base = (numpy.arange(nbytes) * 7 % 251).astype("u1")
        self.array = self.base.view(self.dtype).reshape(self.sizes)

    def over_base(self, dtype, shape, strides):
        """An array of some bytes of the base, from where this one begins; strides in bytes, which
        have to be whole elements, and are where nobody steps."""
        itemsize = numpy.dtype(dtype).itemsize
        offset = (self.array.__array_interface__["data"][0] -
                  self.base.__array_interface__["data"][0])
        if offset % itemsize or any(stride % itemsize and size > 1
                                    for size, stride in zip(shape, strides)):
            raise Refused
        strides = [stride if size > 1 else itemsize for size, stride in zip(shape, strides)]
        return numpy.ndarray(shape, dtype, self.base, offset, strides)

    def axis(self):
        """One that may be out of range, seldom, and may be counted from the end."""
        ndim = max(self.array.ndim, 1)
        return self.dice.randrange(-ndim - 1, ndim + 1) if self.dice.random() < 0.05 \
            else self.dice.randrange(-ndim, ndim)

    def size_of(self, axis):
        return self.array.shape[axis] if -self.array.ndim <= axis < self.array.ndim else 1

    def at(self, axis):
        """The axis of a dimension that has to be there, counted from the first."""
        if not -self.array.ndim <= axis < self.array.ndim:
            raise Refused
        return axis % self.array.ndim

    def permute(self):
        axes = self.dice.sample(range(self.array.ndim), self.array.ndim)
        return axes, lambda: self.array.transpose(axes)

    def transpose(self):
        if self.array.ndim == 0:
            return None
        first, second = self.axis(), self.axis()
        return [first, second], lambda: self.array.swapaxes(self.at(first), self.at(second))

    def t(self):
        if self.array.ndim > 2:
            return None
        return [], lambda: self.array.T

    def movedim(self):
        count = self.dice.randrange(self.array.ndim + 1)
        sources, places = ([axis - self.array.ndim * self.dice.randrange(2)
                            for axis in self.dice.sample(range(self.array.ndim), count)]
                           for _ in range(2))
        if count == 1 and self.dice.random() < 0.1:
            places = [self.array.ndim]
        return ([*sources, *places],
                lambda: numpy.moveaxis(self.array, sources, [self.at(place) for place in places]))

    def slice(self):
        axis = self.axis()
        size = self.size_of(axis)
        start, end = (self.dice.randrange(-size - 2, size + 3) for _ in range(2))
        step = self.dice.randrange(1, 4)
        return ([axis, start, end, step],
                lambda: self.array[along(self.at(axis), slice(start, end, step))])

    def narrow(self):
        axis = self.axis()
        start = self.dice.randrange(self.size_of(axis) + 1)
        length = self.dice.randrange(self.size_of(axis) - start + 1)
        return ([axis, start, length],
                lambda: self.array[along(self.at(axis), slice(start, start + length))])

    def select(self):
        axis = self.axis()
        size = self.size_of(axis)
        index = self.dice.randrange(-size - 1, size + 1)
        return [axis, index], lambda: self.array[along(self.at(axis), index)]

    def unbind(self):
        axis = self.axis()
        if self.size_of(axis) == 0:
            return None
        index = self.dice.randrange(self.size_of(axis))
        return [axis, index], lambda: self.array[along(self.at(axis), index)]

    def split(self):
        axis = self.axis()
        present = self.size_of(axis)
        size = self.dice.randrange(1, present + 2)
        part = self.dice.randrange(max(1, math.ceil(present / size)))
        cut = slice(part * size, part * size + size)
        return [axis, size, part], lambda: self.array[along(self.at(axis), cut)]

    def split_sizes(self):
        axis = self.axis()
        left, sizes = self.size_of(axis), []
        while left or not sizes:
            sizes.append(self.dice.randrange(left + 1))
            left -= sizes[-1]
        part = self.dice.randrange(len(sizes))
        start = sum(sizes[:part])
        cut = slice(start, start + sizes[part])
        return [axis, part, *sizes], lambda: self.array[along(self.at(axis), cut)]

    def view_as(self):
        if self.array.size == 0 or self.array.ndim == 0:
            return None
        dtype = self.dice.choice(VIEWED_AS)
        itemsize, shape, strides = (numpy.dtype(dtype).itemsize, self.array.shape,
                                    self.array.strides)

        def make():
            last = shape[-1] * self.array.itemsize
            if itemsize == self.array.itemsize:
                return self.over_base(dtype, shape, strides)
            if last % itemsize or shape[-1] > 1 and strides[-1] != self.array.itemsize:
                raise Refused
            return self.over_base(dtype, (*shape[:-1], last // itemsize),
                                  (*strides[:-1], itemsize))
        return [dtype], make

    def view_as_real(self):
        if self.array.dtype != "c8" or self.array.size == 0:
            return None
        return [], lambda: self.over_base("f4", (*self.array.shape, 2), (*self.array.strides, 4))

    def view_as_complex(self):
        if self.array.dtype != "f4" or self.array.size == 0:
            return None

        def make():
            if self.array.ndim == 0 or self.array.shape[-1] != 2 or self.array.strides[-1] != 4:
                raise Refused
            return self.over_base("c8", self.array.shape[:-1], self.array.strides[:-1])
        return [], make

    def chunk(self):
        axis = self.axis()
        present = self.size_of(axis)
        count = self.dice.randrange(1, present + 2)
        size = math.ceil(present / count)
        part = self.dice.randrange(math.ceil(present / size) if size else count)
        cut = slice(part * size, part * size + size)
        return [axis, count, part], lambda: self.array[along(self.at(axis), cut)]

    def expand(self):
        repeats = self.dice.randrange(4)
        sizes = [repeats if size == 1 and self.dice.random() < 0.7 else size
                 for size in self.array.shape]
        sizes = [self.dice.randrange(3) for _ in range(self.dice.randrange(2))] + sizes
        if sizes and self.dice.random() < 0.05:
            sizes[self.dice.randrange(len(sizes))] += 1
        return sizes, lambda: numpy.broadcast_to(self.array, sizes)

    def unsqueeze(self):
        axis = self.dice.randrange(-self.array.ndim - 2, self.array.ndim + 2)
        return [axis], lambda: numpy.expand_dims(self.array, axis)

    def squeeze(self):
        if self.array.ndim == 0 or self.dice.random() < 0.5:
            return [], self.array.squeeze
        axis = self.axis()

        def make():
            place = self.at(axis)
            return self.array.squeeze(place) if self.array.shape[place] == 1 else self.array
        return [axis], make

    def view(self):
        left, sizes = self.array.size, []
        while left > 1 and len(sizes) < 5:
            size = self.dice.choice([n for n in range(1, left + 1) if left % n == 0])
            sizes.append(size)
            left //= size
        sizes.insert(self.dice.randrange(len(sizes) + 1), left)
        if 0 not in sizes and self.dice.random() < 0.2:
            sizes[self.dice.randrange(len(sizes))] = -1
        return sizes, lambda: viewed(self.array, sizes)

    def flatten(self):
        if self.array.ndim == 0:
            return None
        first, last = sorted(self.dice.randrange(self.array.ndim) for _ in range(2))
        shape = self.array.shape
        joined = shape[:first] + (math.prod(shape[first:last + 1]),) + shape[last + 1:]
        return [first, last], lambda: viewed(self.array, joined)

    def diagonal(self):
        offset, first, second = self.dice.randrange(-4, 5), self.axis(), self.axis()
        return ([offset, first, second],
                lambda: self.array.diagonal(offset, self.at(first), self.at(second)))

    def unfold(self):
        axis = self.axis()
        size = self.dice.randrange(1, self.size_of(axis) + 2)
        step = self.dice.randrange(1, 4)

        def make():
            if self.array.ndim == 0 and axis in (-1, 0) and size == 1:
                return self.array[None]  # its one window, which NumPy does not slide
            return sliding_window_view(self.array, size, self.at(axis))[
                along(self.at(axis), slice(None, None, step))]

        return [axis, size, step], make

    def as_strided(self):
        ndim = self.dice.randrange(4)
        sizes = [self.dice.randrange(4) for _ in range(ndim)]
        strides = [self.dice.randrange(5) for _ in range(ndim)]
        itemsize = self.array.itemsize
        base = self.base[:self.base.size // itemsize * itemsize].view(self.array.dtype)
        offset = self.dice.randrange(base.size + 2)

        def make():
            reach = sum((size - 1) * stride for size, stride in zip(sizes, strides))
            if 0 not in sizes and offset + reach >= base.size:
                raise Refused
            return as_strided(base[offset:], sizes, [itemsize * stride for stride in strides])

        return sizes + strides + [offset], make

    LINKS = [permute, transpose, t, movedim, slice, narrow, select, unbind, split, chunk, expand,
             unsqueeze, squeeze, view, flatten, diagonal, unfold, as_strided, split_sizes, view_as,
             view_as_real, view_as_complex]

    def link(self):
        """One more: what to tell byre, and what NumPy made of it, or None if it refused."""
        while True:
            drawn = self.dice.choice(self.LINKS)
            made = drawn(self)
            if made is None or (self.array.size > 2000 or self.array.ndim > 9) and drawn in (
                    Chain.expand, Chain.unfold, Chain.unsqueeze):
                continue
            arguments, make = made
            told = " ".join(map(str, [drawn.__name__, *arguments]))
            try:
                self.array = make()
            except (Refused, ValueError, IndexError):
                return told, None
            return told, self.array


def difference(array, line):
    """What is wrong with what byre said of an array, or None."""
    if array is None or line == "refused":
        return None if array is None and line == "refused" else "one of the two refused"
    sizes, strides, elements = map(json.loads, line.split(";"))
    if sizes != list(array.shape):
        return f"NumPy's shape is {array.shape}"
    numpys = [stride // array.itemsize for stride in array.strides]
    if array.size and any(size > 1 and ours != theirs
                          for size, ours, theirs in zip(sizes, strides, numpys)):
        return f"NumPy's strides are {numpys}"
    if elements != list(array.tobytes()):
        return f"NumPy's bytes are {list(array.tobytes())}"
    return None


def main(program):
    seed = int(os.environ.get("BYRE_TEST_SEED") or random.SystemRandom().getrandbits(32))
    print(f"BYRE_TEST_SEED={seed}")
    dice = random.Random(seed)
    told, arrays, refusals = [], [], 0
    for _ in range(CHAINS):
        chain = Chain(dice)
        told.append(" ".join(map(str, ["new", chain.dtype, *chain.sizes])))
        arrays.append(chain.array)
        for _ in range(LINKS):
            line, array = chain.link()
            told.append(line)
            arrays.append(array)
            refusals += array is None
    answers = subprocess.run([program], input="\n".join(told) + "\n", check=True,
                             capture_output=True, text=True).stdout.splitlines()
    if len(answers) != len(told):
        print(f"{len(told)} lines were given, {len(answers)} came back")
        return 1
    failures = 0
    for number, (line, array, answer) in enumerate(zip(told, arrays, answers)):
        if wrong := difference(array, answer):
            failures += 1
            first = max(at for at in range(number + 1) if told[at].startswith("new"))
            print(f"{' | '.join(told[first:number + 1])}\n  byre: {answer}\n  {wrong}")
        if failures == 10:
            break
    print(f"{CHAINS} chains, {len(told)} views, {refusals} refused by both, {failures} different")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
