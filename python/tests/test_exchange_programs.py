# SPDX-License-Identifier: BSL-1.0
"""Random programs of arrays, tensors, views, copies, writes, drops, threads and forks. Checks that no array observes a
write to another array, and that dropped arrays leave no block, mapping or descriptor.

Each array has a model outside of pages, to which each write is applied, and which is copied with the array. The two are
compared after each step. Program n has the seed BYRE_SEED + n. BYRE_PROGRAMS is the number of programs: the default
takes seconds, 1000000 a quarter of an hour. A program that fails is printed.
"""
import ctypes
import gc
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import byre
import numpy as np
from byre._leaves import address_of
from pytorch import torch
from support import ramp, run_in_child, used

SEED = int(os.environ.get("BYRE_SEED") or random.SystemRandom().randrange(1 << 40))
PROGRAMS = int(os.environ.get("BYRE_PROGRAMS") or 1000)
DTYPES = ["u1", "i2", "i4", "i8", "f4", "f8", "c16"]
SIZES = [96, 4096, 4096, 5000, 3 * 4096, 4 * 4096] * 5 + [17 * 4096, 70_000]  # the last two are lazy without lazy=True
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
    """An array or tensor of the program, pointers to its memory, and its model, which is an array over bytes `root`."""

    def __init__(self, name, thing, root, model):
        self.name, self.thing, self.root, self.model = name, thing, root, model
        self.is_tensor = not isinstance(thing, np.ndarray)
        self.array = thing.numpy() if self.is_tensor else thing
        self.pointers = []
        if self.array.flags.c_contiguous and model.flags.c_contiguous:
            self.pointers = [(address_of(x), memoryview(x.reshape(-1).view("u1"))) for x in (self.array, model)]

    def copied_model(self, roots):
        """A copy of the root and of the model. Models with the same root share its copy, which is stored in `roots`."""
        root = roots.setdefault(id(self.root), bytearray(self.root))
        offset = address_of(self.model) - ctypes.addressof(ctypes.c_char.from_buffer(self.root))
        return root, np.ndarray(self.model.shape, self.model.dtype, root, offset, self.model.strides)


class Program:
    def __init__(self, seed, trace):
        self.chance, self.trace, self.held = random.Random(seed), trace, []

    def keep(self, thing, root, model, *words):
        name = f"x{len(self.trace)}"
        self.trace.append((name, "=", *words))
        self.held.append(Held(name, thing, root, model))

    def make(self, _=None):
        dtype = np.dtype(self.chance.choice(DTYPES))
        root = bytearray(self.chance.choice(SIZES) // 32 * 32)
        model = np.frombuffer(root, dtype)
        model[:] = np.arange(len(model)) % 101
        make = self.chance.choice([np.empty, np.zeros])
        array = make(model.shape, dtype)
        array[:] = model
        if self.chance.random() < 0.2:
            model, array = model.reshape(2, -1), array.reshape(2, -1)
        self.keep(array, root, model, make.__name__, array.shape, dtype)

    def view(self, source):
        n = len(source.model)
        part = slice(self.chance.randrange((n + 3) // 4), n, self.chance.choice([1, 1, 2]))
        self.keep(source.thing[part], source.root, source.model[part], source.name, part)

    def tensor(self, source):
        if torch is not None and not source.is_tensor:
            self.keep(torch.from_numpy(source.array), source.root, source.model, "tensor of", source.name)

    def to_pages(self, source):
        moved = byre.to_pages(source.thing)
        if moved is not source.thing:
            self.keep(moved, *source.copied_model({}), "to_pages", source.name)

    def copy(self, source):
        sources, lazy = [source], self.chance.choice([None, True, True, True])
        if self.chance.random() < 0.2:
            sources = self.chance.sample(self.held, min(len(self.held), self.chance.randrange(2, 5)))
        tree, roots = [source.thing for source in sources], {}
        try:
            copies = byre.copy(tree, lazy=lazy)
        except byre.CopyRefused:
            copies = byre.copy(tree)
        for source, thing in zip(sources, copies):
            self.keep(thing, *source.copied_model(roots), f"copy({lazy}) of", source.name)

    def write(self, held):
        index, value, way = self.chance.randrange(len(held.model)), self.chance.randrange(100), self.chance.random()
        if held.pointers and way < 0.35:
            at, n = self.chance.randrange(held.model.nbytes), self.chance.choice([1, 9, 5000])
            n = min(n, held.model.nbytes - at)
            self.trace.append(("memset" if way < 0.2 else "memoryview", at, n, value))
            for address, view in held.pointers:
                if way < 0.2:
                    ctypes.memset(address + at, value, n)
                else:
                    view[at : at + n] = bytes(n)
        else:
            ways = TENSOR_WRITES if held.is_tensor else WRITES
            how = self.chance.choice(list(ways))
            self.trace.append((how, index, value))
            for x in (held.thing, torch.from_numpy(held.model) if held.is_tensor else held.model):
                ways[how](x, index, value)

    def fork(self, source):
        """Parent and child write and copy all arrays independently, while other threads of the parent copy."""

        def copy(mine):
            while running:
                mine = byre.copy(mine, lazy=True)
                mine[5] += 1

        def action():
            for held in self.held:
                self.write(held)
            self.copy(source)
            self.steps(4, [self.write, self.copy, self.held.remove])

        running = [True]
        with ThreadPoolExecutor(2) as pool:
            pool.map(copy, [ramp(), ramp()])
            try:
                run_in_child(action, meanwhile=lambda: self.steps(4, [self.write, self.copy]))
            finally:
                running.clear()

    def threads(self, shared):
        """Threads copy one shared array. Each thread also writes and copies arrays that no other thread uses."""

        def run(seed, held):
            program = Program(seed, self.trace)
            program.held = [shared]
            program.copy(shared)
            program.held[0] = held
            with np.errstate(all="ignore"):
                program.steps(6, [program.write] * 4 + [program.copy] * 2 + [program.held.remove])
            return program  # its arrays live until all threads end

        parts = list({id(held.root): held for held in self.held if held.root is not shared.root}.values())[:3]
        seeds = [self.chance.getrandbits(32) for _ in parts]
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(run, seeds, parts))

    def steps(self, count, actions):
        for _ in range(count):
            if not self.held:
                return
            action, held = self.chance.choice(actions), self.chance.choice(self.held)
            self.trace.append((action.__name__, held.name))
            action(held)
            for held in self.held:
                assert held.array.tobytes() == held.model.tobytes(), f"{held.name} differs from its model"

    def run(self):
        actions = [self.write] * 36 + [self.copy] * 23 + [self.held.remove] * 9
        actions += [self.make] * 3 + [self.view] * 6 + [self.tensor] * 6 + [self.to_pages] * 2
        actions += [self.threads] * 4 if self.chance.random() < 0.2 else []
        actions += [self.fork] * 4 if self.chance.random() < 0.05 else []
        with byre.pages(min_nbytes=self.chance.choice([0, 4096])), np.errstate(all="ignore"):
            self.make()
            self.steps(self.chance.randrange(4, 20), actions)


def test_no_array_observes_a_write_to_another_array():
    if torch is not None:
        torch.set_num_threads(1)  # a forked child has no threads of OpenMP
    print(f"BYRE_SEED={SEED}")
    run_in_child(ramp)
    ramp()  # opens a new file, like each first array after a fork
    before, interval = used(), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    for seed in range(SEED, SEED + PROGRAMS):
        trace = []
        try:
            Program(seed, trace).run()
        except BaseException:
            print(f"BYRE_SEED={seed} BYRE_PROGRAMS=1", *(" ".join(map(str, words)) for words in trace), sep="\n")
            raise
    sys.setswitchinterval(interval)
    ramp()
    gc.collect()  # objects of processes that ended hold descriptors
    assert used() == before
