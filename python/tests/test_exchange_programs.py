# SPDX-License-Identifier: BSL-1.0
"""Random programs of clones, exports, writes through every export, and drops, against a model of who aliases
whom: no array ever sees another's write.

BYRE_PROGRAMS says how many. PyTorch takes part where it is there. A program that goes wrong is printed, and runs
again by BYRE_SEED.
"""
import os
import random
import warnings

import byre
import numpy as np
from pytorch import torch

SIZE = 4
PROGRAMS = int(os.environ.get("BYRE_PROGRAMS") or 10_000)
MOST_STEPS = 14


class Block:
    """Memory, as the model has it: whoever refers to it sees what is written there."""

    __slots__ = ("cells",)

    def __init__(self, cells):
        self.cells = cells


class Storage:
    """An identity of byre's: its views alias. `others_write` is of memory that came from another library, and
    `kept` what that keeps alive."""

    __slots__ = ("block", "pins", "is_read_only", "others_write", "kept")

    def __init__(self, block, is_read_only=False, others_write=False, kept=None):
        self.block = block
        self.pins = 0
        self.is_read_only = is_read_only
        self.others_write = others_write
        self.kept = kept

    def written(self):
        """The block that a write goes to: of memory that may only be read, a copy."""
        if self.is_read_only:
            self.block = Block(list(self.block.cells))
            self.is_read_only = self.others_write = False
            self.kept = None
        return self.block

    def is_alias(self):
        """Whether what is seen of it to read is one more alias."""
        return self.pins > 0 or (self.others_write and not self.is_read_only)


class Pin:
    """Counts as long as the model keeps it."""

    __slots__ = ("storage",)

    def __init__(self, storage):
        self.storage = storage
        storage.pins += 1

    def __del__(self):
        self.storage.pins -= 1


class Held:
    """One object of the program: an array of byre, which has a storage, or what another library sees of a
    block."""

    __slots__ = ("name", "thing", "storage", "block", "indices", "is_writable", "kept", "given")

    def __init__(self, name, thing, indices, storage=None, block=None, is_writable=True, kept=None):
        self.name = name
        self.thing = thing
        self.storage = storage
        self.block = block
        self.indices = indices
        self.is_writable = is_writable
        self.kept = kept
        self.given = None  # a pin, of an array whose buffer was given out to be written

    def expected(self):
        cells = (self.storage.block if self.storage else self.block).cells
        return [cells[index] for index in self.indices]

    def drop(self):
        self.thing = self.storage = self.block = self.kept = self.given = None


class Program:
    def __init__(self, chance, trace):
        self.chance = chance
        self.trace = trace
        self.held = []
        self.number = 0

    def say(self, *words):
        self.trace.append(" ".join(map(str, words)))

    def keep(self, held):
        self.held.append(held)
        self.say("->", held.name, "of", held.indices)

    # ---- arrays of byre

    def make(self):
        cells = [self.chance.randrange(100) for _ in range(SIZE)]
        self.keep(Held("array", byre.array(cells), range(SIZE), storage=Storage(Block(cells))))

    def copy(self, source):
        self.keep(self.copied("copy", source.thing.copy(), source))

    def reshape(self, source):
        self.keep(self.copied("reshape", source.thing.reshape(-1), source))

    @staticmethod
    def copied(name, thing, source):
        cells = source.expected()
        return Held(name, thing, range(len(cells)), storage=Storage(Block(cells)))

    def view(self, source):
        part = slice(self.chance.randrange(2), None, self.chance.choice([1, 1, 2]))
        self.keep(Held("view", source.thing[part], source.indices[part], storage=source.storage))

    # ---- what other libraries see

    def seen_to_read(self, name, source, thing):
        storage = source.storage
        if storage.is_alias():
            block, kept = storage.block, Pin(storage)
        elif storage.others_write:
            block, kept = storage.block, storage.kept
        else:
            # Nobody writes what it sees: a write by the array goes elsewhere.
            block, kept = Block(list(storage.block.cells)), None
        self.keep(Held(name, thing, source.indices, block=block, is_writable=False, kept=kept))

    def seen_to_write(self, name, source, thing):
        block = source.storage.written()
        self.keep(Held(name, thing, source.indices, block=block, kept=Pin(source.storage)))

    def numpy(self, source):
        self.seen_to_read("numpy()", source, source.thing.numpy())

    def asarray(self, source):
        self.seen_to_read("asarray", source, np.asarray(source.thing))

    def buffer(self, source):
        self.seen_to_read("memoryview", source, memoryview(source.thing))

    def torch_of_numpy(self, source):
        self.seen_to_read("torch.from_numpy", source, torch.from_numpy(source.thing.numpy()))

    def writable_numpy(self, source):
        self.seen_to_write("numpy(writable)", source, source.thing.numpy(writable=True))

    def torch_tensor(self, source):
        self.seen_to_write("torch.from_dlpack", source, torch.from_dlpack(source.thing))

    def give_buffer(self, source):
        """What a writable buffer needs: the elements in order, and the array keeps a pin from then on."""
        if not source.indices or source.thing.strides != (8,):
            return False
        source.storage.written()
        source.given = source.given or Pin(source.storage)
        return True

    def torch_of_buffer(self, source):
        if self.give_buffer(source):
            theirs = torch.frombuffer(source.thing, dtype=torch.int64)
            self.seen_to_write("torch.frombuffer", source, theirs)

    def ndarray_of_buffer(self, source):
        if self.give_buffer(source):
            theirs = np.ndarray(len(source.indices), "int64", buffer=source.thing)
            self.seen_to_write("ndarray(buffer)", source, theirs)
            self.held[-1].kept = source.given  # what it keeps is the array

    def numpy_of_buffer(self, source):
        if source.indices and source.thing.strides == (8,):
            self.seen_to_read("np.frombuffer", source, np.frombuffer(source.thing, "int64"))

    def writable_dlpack(self, source):
        capsule = source.thing.__dlpack__(max_version=(1, 0), writable=True)
        block = source.storage.written()
        storage = Storage(block, others_write=True, kept=Pin(source.storage))
        self.keep(Held("from_dlpack(w)", byre.from_dlpack(capsule), source.indices, storage=storage))

    def dlpack(self, source):
        capsule = source.thing.__dlpack__(max_version=(1, 0))
        self.seen_to_read("dlpack", source, None)
        self.imported("from_dlpack(r)", self.held.pop(), byre.from_dlpack(capsule))

    # ---- and what byre sees of that

    def imported(self, name, source, thing):
        """An array over the memory of something that is seen, which keeps that alive, and its pin."""
        storage = Storage(
            source.block, is_read_only=not source.is_writable, others_write=True, kept=source.kept
        )
        self.keep(Held(name, thing, source.indices, storage=storage))

    def from_numpy(self, seen):
        if isinstance(seen.thing, np.ndarray):
            self.imported("from_numpy", seen, byre.from_numpy(seen.thing))

    def from_torch(self, seen):
        if isinstance(seen.thing, torch.Tensor) and seen.is_writable:
            self.imported("from_dlpack", seen, byre.from_dlpack(seen.thing))

    # ---- writes and drops

    def write(self, held):
        at = self.chance.randrange(len(held.indices))
        self.number += 1
        value = 1000 + self.number
        self.say("write", value, "to", held.name, "at", at)
        if held.storage is not None:
            held.thing[at] = value
            held.storage.written().cells[held.indices[at]] = value
        elif held.is_writable:
            held.thing[at] = value
            held.block.cells[held.indices[at]] = value
        elif isinstance(held.thing, (np.ndarray, memoryview)):
            try:
                held.thing[at] = value
            except (ValueError, TypeError):
                return
            raise AssertionError(f"{held.name} may only be read, and was written")

    def drop(self, held):
        self.say("drop", held.name)
        self.held.remove(held)
        held.drop()

    def check(self, held):
        seen, expected = held.thing.tolist(), held.expected()
        assert seen == expected, f"{held.name} has {seen}, and {expected} was expected"

    def run(self):
        of_array = [
            self.copy, self.copy, self.reshape, self.view, self.numpy, self.asarray, self.buffer,
            self.writable_numpy, self.writable_dlpack, self.dlpack,
        ]
        of_seen = [self.from_numpy]
        if torch is not None:
            of_array += [self.torch_of_numpy, self.torch_tensor, self.torch_of_buffer]
            of_seen.append(self.from_torch)
        self.make()
        for _ in range(self.chance.randrange(3, MOST_STEPS)):
            what = self.chance.random()
            held = self.chance.choice(self.held) if self.held else None
            if held is None or what < 0.03:
                self.make()
            elif what < 0.40 and held.indices:
                self.write(held)
            elif what < 0.55:
                self.drop(held)
            elif held.storage is not None:
                self.chance.choice(of_array)(held)
            else:
                self.chance.choice(of_seen)(held)
            if self.held:
                self.check(self.chance.choice(self.held))
        for held in self.held:
            self.check(held)


def test_no_array_ever_sees_anothers_write(chance):
    warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
    for number in range(PROGRAMS):
        seed = chance.getrandbits(32)
        trace = []
        try:
            Program(random.Random(seed), trace).run()
        except BaseException:
            print(f"program {number}, of seed {seed}:", *trace, sep="\n")
            raise
