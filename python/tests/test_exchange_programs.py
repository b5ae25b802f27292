# SPDX-License-Identifier: BSL-1.0
"""Random programs of arrays, tensors, views, copies, writes, drops, threads and forks: no array sees another's write.

Each array has a model outside of pages, which takes part in each write and is copied with it. Both are compared after
each step. Program n has the seed BYRE_SEED + n. BYRE_PROGRAMS is the number of programs: the default takes seconds,
1000000 a quarter of an hour. A program that fails is printed.
"""
import ctypes
import os
import random
import sys
import threading
import traceback

import byre
import numpy as np
from byre._leaves import address_of
from pytorch import torch

SEED = int(os.environ.get("BYRE_SEED") or random.SystemRandom().randrange(1 << 40))
PROGRAMS = int(os.environ.get("BYRE_PROGRAMS") or 1000)
DTYPES = ["u1", "i2", "i4", "i8", "f4", "f8", "c16"]
SIZES = [96, 4096, 4096, 5000, 3 * 4096, 4 * 4096] * 5 + [17 * 4096, 70_000]  # the last are lazy by themselves
STEPS = range(4, 20)

WRITES = {
    "x[i:j] = v": lambda x, i, v: x.__setitem__(slice(i, i + 600), v),
    "np.add": lambda x, i, v: np.add(x, v, out=x, casting="unsafe"),
    "np.multiply": lambda x, i, v: np.multiply(x[i:], x.dtype.type(3), out=x[i:]),
    "np.put": lambda x, i, v: np.put(x, [i, x.size - 1], v),
    "x[[...]] = v": lambda x, i, v: x.__setitem__([i, 0, -1], v),
    "x[mask] = v": lambda x, i, v: x.__setitem__(x == x.flat[0], v),
    "fill": lambda x, i, v: x.fill(v),
    "np.copyto": lambda x, i, v: np.copyto(x[: len(x) // 2], x[len(x) - len(x) // 2 :]),
}
TENSOR_WRITES = {
    "t[i:j].fill_": lambda t, i, v: t[i : i + 600].fill_(v),
    "add_": lambda t, i, v: t.add_(v),
    "mul_": lambda t, i, v: t[i:].mul_(3),
    "copy_": lambda t, i, v: t.copy_(t.flip(0)),
    "index_fill_": lambda t, i, v: t.index_fill_(0, torch.tensor([i, 0]), v),
}


class Held:
    """An array or a tensor of the program, pointers to its memory, and its model: an array of the bytes `root`."""

    def __init__(self, name, thing, root, model):
        self.name, self.thing, self.root, self.model = name, thing, root, model
        self.is_tensor = not isinstance(thing, np.ndarray)
        self.array = thing.numpy() if self.is_tensor else thing
        self.pointers = []
        if self.array.flags.c_contiguous and model.flags.c_contiguous:
            self.pointers = [(address_of(x), memoryview(x.reshape(-1).view("u1"))) for x in (self.array, model)]

    def copied(self, name, thing, roots):
        """The copy `thing` with a model of the copied root, which `roots` has for each root of a tree."""
        root = roots.setdefault(id(self.root), bytearray(self.root))
        offset = address_of(self.model) - ctypes.addressof(ctypes.c_char.from_buffer(self.root))
        return Held(name, thing, root, np.ndarray(self.model.shape, self.model.dtype, root, offset, self.model.strides))

    def check(self):
        assert self.array.tobytes() == self.model.tobytes(), f"{self.name} differs from its model"

    def write(self, chance, say):
        index, value = chance.randrange(len(self.model)), chance.randrange(100)
        way = chance.random()
        if self.pointers and way < 0.35:
            at = chance.randrange(self.model.nbytes)
            n = min(chance.choice([1, 9, 5000]), self.model.nbytes - at)
            say("write", self.name, "by", "memset" if way < 0.2 else "memoryview", at, n, value)
            for address, view in self.pointers:
                ctypes.memset(address + at, value, n) if way < 0.2 else view.__setitem__(slice(at, at + n), bytes(n))
        elif self.is_tensor:
            how = chance.choice(list(TENSOR_WRITES))
            say("write", self.name, "by", how, index, value)
            TENSOR_WRITES[how](self.thing, index, value)
            TENSOR_WRITES[how](torch.from_numpy(self.model), index, value)
        else:
            how = chance.choice(list(WRITES))
            say("write", self.name, "by", how, index, value)
            WRITES[how](self.array, index, value)
            WRITES[how](self.model, index, value)


class Program:
    def __init__(self, seed, trace):
        self.chance, self.trace, self.held = random.Random(seed), trace, []

    def say(self, *words):
        self.trace.append(words)

    def name(self):
        return f"x{len(self.trace)}"

    def keep(self, held, *words):
        self.say(held.name, "=", *words)
        self.held.append(held)

    def make(self, _=None):
        dtype = np.dtype(self.chance.choice(DTYPES))
        nbytes = self.chance.choice(SIZES) // 32 * 32
        root = bytearray(nbytes)
        model = np.frombuffer(root, dtype)
        model[:] = np.arange(len(model)) % 101
        make = self.chance.choice([np.empty, np.zeros])
        array = make(model.shape, dtype)
        array[:] = model
        if self.chance.random() < 0.2:
            model, array = model.reshape(2, -1), array.reshape(2, -1)
        self.keep(Held(self.name(), array, root, model), make.__name__, array.shape, dtype)

    def view(self, source):
        n = len(source.model)
        part = slice(self.chance.randrange((n + 3) // 4), n, self.chance.choice([1, 1, 2]))
        self.keep(Held(self.name(), source.thing[part], source.root, source.model[part]), source.name, part)

    def tensor(self, source):
        if torch is not None and not source.is_tensor:
            tensor = torch.from_numpy(source.array)
            self.keep(Held(self.name(), tensor, source.root, source.model), "tensor of", source.name)

    def to_pages(self, source):
        moved = byre.to_pages(source.thing)
        if moved is not source.thing:
            self.keep(source.copied(self.name(), moved, {}), "to_pages", source.name)

    def copy(self, *sources):
        lazy = self.chance.choice([None, True, True, True])
        tree = [source.thing for source in sources]
        try:
            copies = byre.copy(tree, lazy=lazy)
        except byre.CopyRefused:
            copies = byre.copy(tree)
        roots = {}
        for source, thing in zip(sources, copies):
            self.keep(source.copied(self.name(), thing, roots), f"copy({lazy}) of", source.name)

    def copy_tree(self, _):
        self.copy(*self.chance.sample(self.held, min(len(self.held), self.chance.randrange(2, 5))))

    def write(self, held):
        held.write(self.chance, self.say)

    def drop(self, held):
        self.say("drop", held.name)
        self.held.remove(held)

    def fork(self, _):
        """The child writes, copies and drops all; none of that is seen here."""
        self.say("fork")
        child = os.fork()
        if child == 0:
            try:
                for held in self.held:
                    self.write(held)
                self.copy_tree(None)
                self.steps(4, [self.write, self.copy, self.drop])
                os._exit(0)
            finally:
                traceback.print_exc()
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0, "the child failed"

    def threads(self, _):
        """Threads copy and write arrays that share no bytes with those of the others."""
        self.say("threads")
        parts = list({id(held.root): held for held in self.held}.values())[:3]
        programs = [Program(self.chance.getrandbits(32), self.trace) for _ in parts]

        def run(program, held):
            program.held.append(held)
            with np.errstate(all="ignore"):
                program.steps(6, [program.write] * 4 + [program.copy] * 2 + [program.drop])
            done.append(program)

        done = []
        threads = [threading.Thread(target=run, args=pair) for pair in zip(programs, parts)]
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
        assert len(done) == len(programs), "a thread failed"

    def steps(self, count, actions):
        for _ in range(count):
            if not self.held:
                return
            self.chance.choice(actions)(self.chance.choice(self.held))
            for held in self.held:
                held.check()

    def run(self):
        actions = [self.write] * 36 + [self.copy] * 18 + [self.copy_tree] * 5 + [self.drop] * 9
        actions += [self.make] * 3 + [self.view] * 6 + [self.tensor] * 6 + [self.to_pages] * 2
        actions += [self.threads] if self.chance.random() < 0.2 else []
        actions += [self.fork] if self.chance.random() < 0.05 else []
        with byre.pages(min_nbytes=self.chance.choice([0, 4096])), np.errstate(all="ignore"):
            self.make()
            self.steps(self.chance.choice(STEPS), actions)


def test_no_array_ever_sees_a_write_of_another():
    if torch is not None:
        torch.set_num_threads(1)  # threads of OpenMP are lost in a fork
    print(f"BYRE_SEED={SEED}")
    blocks = byre.memory().blocks
    for seed in range(SEED, SEED + PROGRAMS):
        trace = []
        try:
            Program(seed, trace).run()
        except BaseException:
            print(f"BYRE_SEED={seed} BYRE_PROGRAMS=1", *(" ".join(map(str, words)) for words in trace), sep="\n")
            raise
    assert byre.memory().blocks == blocks
