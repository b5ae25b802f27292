#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Measures the memory of the workers of a torch.utils.data.DataLoader over one array, of NumPy and of byre.

The module byre must be importable: ./dev python bench/python_workers.py. Each worker reads the whole array, and writes
a page of it. The memory is the proportional set size (Pss) of the program and its workers: the system counts a page that
n processes share as 1/n of a page in each of them. With --check, fails if byre copies bytes, or if all processes take
more than 1.05 times the array, and 1 MiB for each process.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time

import byre
import numpy as np
import torch

PAGE_NBYTES = 4096
MAKERS = {"NumPy": np.empty, "byre": byre.empty}
METHODS = ["fork", "spawn"]


class Rows(torch.utils.data.Dataset):
    """Rows of one page each. An item has the worker, its process, whether it reads the right bytes, and the bytes that
    byre has copied in the worker."""

    def __init__(self, array, workers, inherited_nbytes):
        self.array, self.workers, self.inherited_nbytes = array, workers, inherited_nbytes

    def __len__(self):
        return self.workers

    def __getitem__(self, index):
        is_right = int(self.array.sum(dtype=np.int64)) == 7 * self.array.size
        self.array[index] = index
        copied_nbytes = byre.stats().bytes_copied - self.inherited_nbytes
        return torch.utils.data.get_worker_info().id, os.getpid(), bool(is_right), copied_nbytes


def pss_nbytes(pid):
    """The proportional set size without pages of files, which other programs share, too: those of libraries."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return sum(int(kib) << 10 for kib in re.findall(r"^Pss_(?:Anon|Shmem): *(\d+) kB", file.read(), re.M))


def measured(kind, method, nbytes, workers):
    """Bytes of the program and its workers, and seconds until each worker has read the array."""
    array = MAKERS[kind]((nbytes // PAGE_NBYTES, PAGE_NBYTES), "u1")
    array[:] = 7
    begin, before = time.perf_counter(), byre.stats()
    rows = Rows(array, workers, before.bytes_copied if method == "fork" else 0)
    loader = torch.utils.data.DataLoader(rows, batch_size=None, num_workers=workers, multiprocessing_context=method,
                                         persistent_workers=True)
    items = list(loader)
    seconds = time.perf_counter() - begin
    numbers, pids, are_right, copied_nbytes = zip(*items)
    assert sorted(map(int, numbers)) == list(range(workers)), items
    assert all(are_right) and (array == 7).all()
    return {"nbytes": sum(pss_nbytes(pid) for pid in ["self", *pids]), "seconds": seconds,
            "copied": (byre.stats() - before).bytes_copied + sum(copied_nbytes)}


def in_a_new_process(*arguments):
    ended = subprocess.run([sys.executable, __file__, "--one", *map(str, arguments)], check=True, capture_output=True)
    return json.loads(ended.stdout)


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mib", type=int, default=1024, help="size of the array in MiB (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=16, help="number of workers (default: %(default)s)")
    parser.add_argument("--spawn-mib", type=int, default=256,
                        help="size of NumPy's array with spawn, because each worker has a copy (default: %(default)s)")
    parser.add_argument("--check", action="store_true", help="fail if byre's workers take more memory than they should")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    arguments = parsed()
    if arguments.one:
        kind, method, nbytes, workers = arguments.one
        print(json.dumps(measured(kind, method, int(nbytes), int(workers))))
        return
    print(f"{arguments.workers} workers; memory of all processes, in MiB, without that of a run with an array of 1 MiB")
    print("\n| array | workers by | memory | memory / array | bytes copied by byre | start and read |")
    print("|---|---|---|---|---|---|")
    for method in METHODS:
        others = in_a_new_process("byre", method, 1 << 20, arguments.workers)["nbytes"] - (1 << 20)
        for kind in MAKERS:
            mib = arguments.spawn_mib if (kind, method) == ("NumPy", "spawn") else arguments.mib
            found = in_a_new_process(kind, method, mib << 20, arguments.workers)
            nbytes = found["nbytes"] - others
            print(f"| {kind}, {mib} MiB | {method} | {nbytes / 2**20:.1f} MiB | {nbytes / (mib << 20):.3f} "
                  f"| {found['copied'] if kind == 'byre' else '-'} | {found['seconds']:.1f} s |", flush=True)
            if arguments.check and kind == "byre":
                limit = 1.05 * (mib << 20) + (arguments.workers + 1 << 20)
                assert found["copied"] == 0 and nbytes <= limit, f"{found}, {nbytes} bytes, allowed are {limit}"


if __name__ == "__main__":
    main()
