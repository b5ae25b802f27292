#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compares lazy copies of arrays and tensors with numpy.copy, torch.clone and pickles, which copy at once.

The module byre must be importable: ./dev python bench/python_copies.py. The table shows the median, the minimum and the
maximum time over the rounds. Byre and its counterpart are measured alternately.
"""
import argparse
import json
import statistics
import time
from multiprocessing.reduction import ForkingPickler

import byre
import numpy as np

try:
    import torch
except ImportError:
    torch = None

WRITES = 1000


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mib", type=int, default=1024,
                        help="size of the array in MiB, at least 8 (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7,
                        help="number of rounds, at least 1 (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    if arguments.mib < 8:
        parser.error(f"--mib must be at least 8, not {arguments.mib}")
    if arguments.rounds < 1:
        parser.error(f"--rounds must be at least 1, not {arguments.rounds}")
    return arguments


def seconds_of(action, *arguments):
    begin = time.perf_counter()
    action(*arguments)
    return time.perf_counter() - begin


def in_huge_pages(n):
    return byre.ones(n, "float32")


def in_small_pages(n):
    array = byre.zeros(n, "float32")
    array += 1
    return array


class Table:
    def __init__(self, rounds):
        self.rounds, self.rows = rounds, []

    def measure(self, **actions):
        """Runs the actions alternately. Each returns its seconds; byre counts the bytes that it copies."""
        figures = {name: [] for name in actions}
        copied = {}
        for _ in range(self.rounds):
            for name, action in actions.items():
                before = byre.stats()
                figures[name].append(action())
                copied[name] = (byre.stats() - before).bytes_copied
        for name, seconds in figures.items():
            self.rows.append({"what": name.replace("_", " "), "bytes_copied": copied[name], "rounds": self.rounds,
                              "seconds": statistics.median(seconds), "least": min(seconds), "most": max(seconds)})


def copy_and_drop(copy, make):
    """An action that times the first copy of a new array; later copies would find the array already shared."""
    def run():
        array = make()
        begin = time.perf_counter()
        result = copy(array)
        seconds = time.perf_counter() - begin
        del result
        return seconds
    return run


def writes_of_pages(array, copy):
    """The seconds by which the first write to a page is slower than a later write."""
    step = len(array) // WRITES
    def write():
        for at in range(0, WRITES * step, step):
            array[at] = 2
    kept = copy(array)
    first = seconds_of(write)
    second = seconds_of(write)
    del kept
    return (first - second) / WRITES


def exchange(connections):
    """An action that sends an array. One process has both ends, because the message of a lazy copy fits the socket."""
    here, there = connections

    def run(array):
        here.send(array)
        return there.recv()
    return run


def pickle_and_unpickle(array):
    return ForkingPickler.loads(ForkingPickler.dumps(array))


def main():
    arguments = parsed()
    n = (arguments.mib << 20) // 4
    size = f"{arguments.mib}_MiB"
    table = Table(arguments.rounds)
    ordinary = np.ones(n, "float32")
    table.measure(**{
        f"byre.copy_of_{size}_in_huge_pages": copy_and_drop(byre.copy, lambda: in_huge_pages(n)),
        f"byre.copy_of_{size}_in_pages_of_4_KiB": copy_and_drop(byre.copy, lambda: in_small_pages(n)),
        f"numpy.copy_of_{size}": copy_and_drop(np.copy, lambda: ordinary),
    })
    kept = in_huge_pages(n)
    byre.copy(kept)
    table.measure(**{f"byre.copy_of_{size},_the_second_and_later": copy_and_drop(byre.copy, lambda: kept)})
    send = exchange(byre.Pipe())
    table.measure(**{
        f"byre.Connection,_send_and_receive_{size}": copy_and_drop(send, lambda: kept),
        f"multiprocessing,_byre's_array_of_{size}": copy_and_drop(pickle_and_unpickle, lambda: kept),
        f"multiprocessing,_NumPy's_array_of_{size}": copy_and_drop(pickle_and_unpickle, lambda: ordinary),
        "first_write_of_a_page_of_a_received_array_minus_a_later_write":
            lambda: writes_of_pages(send(kept), lambda array: None),
    })
    if torch:
        ours, theirs = byre.to_pages(torch.ones(n)), torch.ones(n)
        table.measure(**{
            f"byre.copy_of_a_tensor_of_{size}": copy_and_drop(byre.copy, lambda: ours),
            f"torch.clone_of_{size}": copy_and_drop(torch.clone, lambda: theirs),
        })
        del ours, theirs
    table.measure(
        first_write_of_a_page_minus_a_later_write=lambda: writes_of_pages(kept, byre.copy),
        first_write_minus_a_later_write_in_an_ordinary_array=lambda: writes_of_pages(ordinary, lambda array: None),
    )
    copy = byre.copy(kept)
    copy.sum()
    table.measure(
        stream_of_reads_of_a_copy=lambda: seconds_of(copy.sum),
        stream_of_reads_of_an_ordinary_array=lambda: seconds_of(ordinary.sum),
    )
    del copy
    table.measure(a_thousand_copies_alive_at_once=lambda: seconds_of(lambda: [byre.copy(kept) for _ in range(1000)]))
    if arguments.json:
        print(json.dumps(table.rows, indent=1))
        return
    print("| what | bytes copied | time | least to most |\n|---|---|---|---|")
    for row in table.rows:
        print(f"| {row['what']} | {row['bytes_copied']:,} | {row['seconds'] * 1e3:.3f} ms | "
              f"{row['least'] * 1e3:.3f} to {row['most'] * 1e3:.3f} ms |")


if __name__ == "__main__":
    main()
