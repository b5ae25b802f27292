#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What each exchange of an array with NumPy, PyTorch and files costs: the bytes that are copied, and the time.

Needs the module byre on the path: ./dev python bench/exchange.py. Times are medians of some repetitions, with the
least and the greatest beside them.
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time
import warnings

import byre
import numpy as np

try:
    import torch
except ImportError:
    torch = None


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mib", type=int, default=1024, help="the size of the array (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="repetitions of each (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    for name in ("mib", "rounds"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name} takes a whole number from 1 on")
    return arguments


class Table:
    def __init__(self, rounds):
        self.rounds = rounds
        self.rows = []

    def measure(self, name, action, prepare=lambda: (), calls=1):
        """`action(*prepare())`, `calls` times a round. What it returns lives until the round is over."""
        seconds, copied = [], 0
        for _ in range(self.rounds):
            prepared = [prepare() for _ in range(calls)]
            kept = []
            before = byre.stats()
            begin = time.perf_counter()
            for arguments in prepared:
                kept.append(action(*arguments))
            seconds.append((time.perf_counter() - begin) / calls)
            copied = (byre.stats() - before).bytes_copied // calls
            del kept, prepared
        self.rows.append(
            {
                "what": name,
                "bytes_copied": copied,
                "seconds": statistics.median(seconds),
                "least": min(seconds),
                "most": max(seconds),
            }
        )
        if sys.stderr.isatty():
            print(f"\r{len(self.rows)} measured", end="", file=sys.stderr)

    def print(self):
        print(f"{'what':64} {'bytes copied':>14} {'time':>10}   least to most")
        for row in self.rows:
            times = [shown(row[key]) for key in ("seconds", "least", "most")]
            print(f"{row['what']:64} {row['bytes_copied']:>14,} {times[0]:>10}   {times[1]} to {times[2]}")


def shown(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def shared(source):
    """A copy, and the array that it shares its data with."""
    return source.copy(), source


def measured(table, mib):
    count = mib * (1 << 20) // 4
    x = byre.full(count, 1, "float32")
    paged = byre.full(count, 1, "float32", pages=True)
    theirs = np.ones(count, "float32")
    size = f"{mib} MiB"

    table.measure(f"byre.copy(x) of {size}", lambda: byre.copy(x), calls=10_000)
    table.measure(f"numpy's x.copy() of {size}, for comparison", theirs.copy)
    y = x.copy()
    table.measure("y.numpy() of a copy", lambda: y.numpy(), calls=10_000)
    table.measure("np.asarray(y)", lambda: np.asarray(y), calls=10_000)
    table.measure("memoryview(y)", lambda: memoryview(y), calls=10_000)
    table.measure("y.__dlpack__(max_version=(1, 0))", lambda: y.__dlpack__(max_version=(1, 0)), calls=10_000)
    alone = byre.full(count, 1, "float32")
    table.measure("z.numpy(writable=True) of data that z has alone", lambda: alone.numpy(writable=True), calls=10_000)
    table.measure("y.numpy(writable=True) of data that is shared", lambda y, x: y.numpy(writable=True), lambda: shared(x))
    table.measure("the same in pages", lambda y, x: y.numpy(writable=True), lambda: shared(paged))
    table.measure("byre.from_numpy(a)", lambda: byre.from_numpy(theirs), calls=10_000)
    table.measure("byre.from_numpy(a).copy(): NumPy may write it", lambda a: a.copy(), lambda: (byre.from_numpy(theirs),))
    if torch is not None:
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        tensor = torch.ones(count)
        table.measure("torch.from_numpy(y.numpy()), to read", lambda: torch.from_numpy(y.numpy()), calls=10_000)
        table.measure("torch.from_dlpack(z) of data that z has alone", lambda: torch.from_dlpack(alone), calls=1_000)
        table.measure("torch.from_dlpack(y) of data that is shared", lambda y, x: torch.from_dlpack(y), lambda: shared(x))
        table.measure("the same in pages", lambda y, x: torch.from_dlpack(y), lambda: shared(paged))
        table.measure("byre.from_dlpack(t)", lambda: byre.from_dlpack(tensor), calls=1_000)

    def write(y, _):
        y[0] = 2
        return y

    table.measure("y[0] = 2 where y shares its data", write, lambda: shared(x))
    table.measure("the same in pages", write, lambda: shared(paged))
    with tempfile.TemporaryDirectory() as folder:
        for end in (".npy", ".npz", ".safetensors"):
            path = pathlib.Path(folder) / f"model{end}"
            byre.save(path, x if end == ".npy" else {"x": x})
            mapped = (lambda path: byre.mmap(path)) if end == ".npy" else (lambda path: byre.mmap(path)["x"])
            table.measure(f"byre.mmap of a {end} file", lambda: mapped(path), calls=10)
            table.measure(f"byre.load of a {end} file", lambda: byre.load(path))
            table.measure(f"y[0] = 2 of a mapped {end} file", write, lambda: (mapped(path), None))
            path.unlink()


def main():
    arguments = parsed()
    table = Table(arguments.rounds)
    measured(table, arguments.mib)
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
    if arguments.json:
        print(json.dumps({"mib": arguments.mib, "rounds": arguments.rounds, "rows": table.rows}, indent=2))
    else:
        table.print()


if __name__ == "__main__":
    main()
