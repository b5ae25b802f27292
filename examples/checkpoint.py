#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Trains a small model and saves checkpoints during the training, with several methods of copying.

The model is features @ head, fitted to random targets. There are three kinds of training. The features are rows of a
large table, and each step trains a few of them (sparse); or a large matrix, which each step trains entirely (dense); or
a frozen large matrix with a small trained adapter (adapter). A checkpoint is a copy of all parameters. A thread writes
it to a file while the training continues. The methods are:

  copies   a full copy: copy.deepcopy(state)
  lazy     byre.copy(state, lazy=True)
  byre     byre.copy(state), which chooses between full and lazy copies

Each method trains several times, in its own process, and the methods alternate. The table shows medians: the total
seconds, the stall of the training for a checkpoint, and the peak of memory after a step. The script checks the values
in the last file.

The module byre must be importable: ./dev python examples/checkpoint.py
"""
import argparse
import copy
import multiprocessing
import os
import statistics
import tempfile
import time

import byre
import numpy as np

KINDS = ("sparse", "dense", "adapter")
METHODS = {"copies": copy.deepcopy, "lazy": lambda state: byre.copy(state, lazy=True), "byre": byre.copy}
BATCH, OUT = 8, 16


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", choices=("numpy", "torch"), default="torch",
                        help="library of the model (default: %(default)s)")
    parser.add_argument("--mib", type=int, default=64,
                        help="size of the largest parameter in MiB (default: %(default)s)")
    parser.add_argument("--checkpoints", type=int, default=30, help="number of checkpoints (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=10, help="steps between two checkpoints (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="processes per method (default: %(default)s)")
    return parser.parse_args()


class NumpyTraining:
    """The training in NumPy, with gradients computed by hand."""

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


class TorchTraining:
    """The training in PyTorch, with autograd."""

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


def memory_nbytes():
    """The bytes of the process's anonymous pages, plus the allocated sizes of its memory files."""
    fields = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
    nbytes = int(fields["RssAnon"].split()[0]) << 10
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}").startswith("/memfd:"):
                nbytes += os.stat(f"/proc/self/fd/{name}").st_blocks * 512
        except OSError:
            pass
    return nbytes


def train(library, kind, method, mib, checkpoints, steps):
    """Trains once. Returns the total seconds, the median stall and the peak of memory."""
    training = {"numpy": NumpyTraining, "torch": TorchTraining}[library](kind, mib)
    training.step()
    stalls, peak, saving = [], 0, None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint.safetensors")
        begin = time.perf_counter()
        for _ in range(checkpoints):
            for _ in range(steps):
                training.step()
                peak = max(peak, memory_nbytes())
            if saving is not None:
                saving.result()
            taken = time.perf_counter()
            saving = byre.save_async(path, METHODS[method](training.state))
            stalls.append(time.perf_counter() - taken)
        expected = copy.deepcopy(training.state)
        for _ in range(steps):
            training.step()
        saving.result()
        seconds = time.perf_counter() - begin
        found = byre.load(path)
        if found.keys() != expected.keys() or any(not np.array_equal(found[name], expected[name]) for name in found):
            raise RuntimeError(f"{library}, {kind}, {method}: the values in the file differ from the parameters")
    return seconds, statistics.median(stalls), peak


def main():
    arguments = parsed()
    context = multiprocessing.get_context("spawn")
    print("| training | checkpoints by | seconds | stall | peak memory |\n|---|---|---|---|---|")
    for kind in KINDS:
        runs = {method: [] for method in METHODS}
        for _ in range(arguments.rounds):
            for method in METHODS:  # alternately, so that a slow period of the machine affects all methods
                with context.Pool(1) as pool:
                    job = (arguments.library, kind, method, arguments.mib, arguments.checkpoints, arguments.steps)
                    runs[method].append(pool.apply(train, job))
        for method, figures in runs.items():
            seconds, stall, peak = (statistics.median(column) for column in zip(*figures))
            print(f"| {kind} | {method} | {seconds:.2f} | {stall * 1e3:.2f} ms | {int(peak) >> 20} MiB |", flush=True)


if __name__ == "__main__":
    main()
