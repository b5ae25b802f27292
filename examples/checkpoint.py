#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Trains a small model and saves checkpoints beside the training, by several ways to take them.

The model is features @ head, fitted to random targets. Its features are rows of a large table of which each step trains
a few (sparse), a large matrix that each step trains whole (dense), or such a matrix frozen, with a small adapter beside
it (adapter). A checkpoint is a copy of all parameters, which a thread writes to a file while the training goes on:

  copies   a copy made at once: copy.deepcopy
  lazy     byre.copy(state, lazy=True)
  byre     byre.copy(state), which chooses
  blocking no copy: the training waits for torch.save or numpy.savez

Each way trains in a process of its own, several times in turn. Figures are medians: seconds of all, stalls of the
training by a checkpoint, and the peak of memory. What the last file has is compared with the parameters as they were.

Needs the module byre on the path: ./dev python examples/checkpoint.py
"""
import argparse
import copy
import importlib.util
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time

import byre
import numpy as np

KINDS = ("sparse", "dense", "adapter")
WAYS = ("copies", "lazy", "byre", "blocking")
BATCH, OUT = 8, 16


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", choices=("numpy", "torch"), default="torch", help="(default: %(default)s)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="of training (default: all)")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS, help="to take checkpoints (default: all)")
    parser.add_argument("--mib", type=int, default=64, help="of the largest parameter (default: %(default)s)")
    parser.add_argument("--checkpoints", type=int, default=30, help="(default: %(default)s)")
    parser.add_argument("--steps", type=int, default=10, help="between two checkpoints (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="processes for each way (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    arguments = parser.parse_args()
    if arguments.library == "torch" and importlib.util.find_spec("torch") is None:
        parser.error("--library torch needs PyTorch, as Debian's python3-torch; or take --library numpy")
    for name in ("mib", "checkpoints", "steps", "rounds"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name} takes a whole number from 1 on")
    return arguments


class NumpyTraining:
    """Gradient descent by hand."""

    def __init__(self, kind, mib):
        self.kind, self.chance = kind, np.random.default_rng(1)
        width = 256 if kind == "sparse" else 1 << (18 + (mib - 1).bit_length()) // 2
        rows = (mib << 20) // 4 // width
        self.state = {
            "features": self.chance.standard_normal((rows, width), np.float32) * np.float32(0.02),
            "head": self.chance.standard_normal((width, OUT), np.float32) * np.float32(0.02),
        }
        if kind == "adapter":
            self.state["down"] = self.chance.standard_normal((rows, 8), np.float32) * np.float32(0.02)
            self.state["up"] = np.zeros((8, width), np.float32)
        self.state = byre.to_pages(self.state)

    def step(self):
        p, rate = self.state, np.float32(0.01)
        target = self.chance.standard_normal((BATCH, OUT), np.float32)
        if self.kind == "sparse":
            rows = self.chance.choice(len(p["features"]), BATCH, replace=False)
            features = p["features"][rows]
        else:
            x = self.chance.standard_normal((BATCH, len(p["features"])), np.float32)
            x *= np.float32(len(p["features"]) ** -0.5)
            features = x @ p["features"]
            if self.kind == "adapter":
                features += x @ p["down"] @ p["up"]
        error = (features @ p["head"] - target) * np.float32(2 / BATCH)
        back = error @ p["head"].T
        p["head"] -= rate * (features.T @ error)
        if self.kind == "sparse":
            p["features"][rows] -= rate * back
        elif self.kind == "dense":
            p["features"] -= rate * (x.T @ back)
        else:
            down = rate * (x.T @ (back @ p["up"].T))
            p["up"] -= rate * ((x @ p["down"]).T @ back)
            p["down"] -= down

    def blocking_save(self, path):
        np.savez(path, **self.state)


class TorchTraining:
    """The same by autograd."""

    def __init__(self, kind, mib):
        import torch

        self.torch, self.kind = torch, kind
        torch.manual_seed(1)
        start = NumpyTraining(kind, mib).state
        rows, width = start["features"].shape
        sparse = torch.nn.Embedding(rows, width, sparse=True) if kind == "sparse" else torch.nn.Linear(rows, width, bias=False)
        self.model = torch.nn.ModuleDict({"features": sparse, "head": torch.nn.Linear(width, OUT)})
        if kind == "adapter":
            self.model["features"].requires_grad_(False)
            self.model["down"] = torch.nn.Linear(rows, 8, bias=False)
            self.model["up"] = torch.nn.Linear(8, width, bias=False)
        byre.to_pages(self.model)
        self.optimizer = torch.optim.SGD([p for p in self.model.parameters() if p.requires_grad], lr=0.01)
        self.state = self.model.state_dict()

    def step(self):
        torch, model = self.torch, self.model
        if self.kind == "sparse":
            features = model["features"](torch.randint(model["features"].num_embeddings, (BATCH,)))
        else:
            x = torch.randn(BATCH, model["features"].in_features) * model["features"].in_features ** -0.5
            features = model["features"](x)
            if self.kind == "adapter":
                features = features + model["up"](model["down"](x))
        loss = ((model["head"](features) - torch.randn(BATCH, OUT)) ** 2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def blocking_save(self, path):
        self.torch.save(self.state, path)


TAKE = {"copies": copy.deepcopy, "lazy": lambda state: byre.copy(state, lazy=True), "byre": byre.copy}


class PeakMemory:
    """The most bytes of memory that this process had, looked at every few milliseconds."""

    def __init__(self):
        self.peak, self.ended = memory_nbytes(), threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        while not self.ended.wait(0.01):
            self.peak = max(self.peak, memory_nbytes())

    def end(self):
        self.ended.set()
        self.thread.join()
        return self.peak


def memory_nbytes():
    """Anonymous pages of the process, and those of memory files by the files' sizes."""
    fields = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
    nbytes = int(fields["RssAnon"].split()[0]) << 10
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}").startswith("/memfd:"):
                nbytes += os.stat(f"/proc/self/fd/{name}").st_blocks * 512
        except OSError:
            pass
    return nbytes


def train(library, kind, way, mib, checkpoints, steps):
    training = {"numpy": NumpyTraining, "torch": TorchTraining}[library](kind, mib)
    training.step()
    memory = PeakMemory()
    stalls, saving = [], None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint." + ("npz" if way == "blocking" else "safetensors"))
        begin = time.perf_counter()
        for _ in range(checkpoints):
            for _ in range(steps):
                training.step()
            if saving is not None:
                saving.result()
            taken = time.perf_counter()
            if way == "blocking":
                training.blocking_save(path)
                with open(path, "rb") as file:
                    os.fsync(file.fileno())  # as byre.save_async() does
            else:
                saving = byre.save_async(path, TAKE[way](training.state))
            stalls.append(time.perf_counter() - taken)
        expected = copy.deepcopy(training.state)
        for _ in range(steps):
            training.step()
        if saving is not None:
            saving.result()
        seconds = time.perf_counter() - begin
        peak = memory.end()
        if saving is not None:
            found = byre.load(path)
            if found.keys() != expected.keys() or any(not np.array_equal(found[name], expected[name]) for name in found):
                raise RuntimeError(f"{library}, {kind}, {way}: the file has other values than the parameters had")
    return seconds, statistics.median(stalls), max(stalls), peak


def measured(arguments, kind):
    """Each way in turn, so that a slower minute of the machine meets all of them."""
    runs = {way: [] for way in arguments.ways}
    context = multiprocessing.get_context("spawn")
    for _ in range(arguments.rounds):
        for way in arguments.ways:
            print(f"{arguments.library}, {kind}: {way}", file=sys.stderr, flush=True)
            with context.Pool(1) as pool:
                job = (arguments.library, kind, way, arguments.mib, arguments.checkpoints, arguments.steps)
                runs[way].append(pool.apply(train, job))
    rows = []
    for way, figures in runs.items():
        seconds, stall, longest, peak = (statistics.median(column) for column in zip(*figures))
        least, most = min(run[0] for run in figures), max(run[0] for run in figures)
        rows.append({"kind": kind, "way": way, "seconds": seconds, "least_seconds": least, "most_seconds": most,
                     "stall_seconds": stall, "longest_stall_seconds": longest, "peak_nbytes": int(peak)})
    return rows


def main():
    arguments = parsed()
    rows = [row for kind in arguments.kinds for row in measured(arguments, kind)]
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return
    print("| training | checkpoints by | seconds | least to most | stall, median | longest | peak memory |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['kind']} | {row['way']} | {row['seconds']:.2f} | {row['least_seconds']:.2f} to "
              f"{row['most_seconds']:.2f} | {row['stall_seconds'] * 1e3:.2f} ms | "
              f"{row['longest_stall_seconds'] * 1e3:.1f} ms | {row['peak_nbytes'] >> 20} MiB |")


if __name__ == "__main__":
    main()
