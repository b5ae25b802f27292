# SPDX-License-Identifier: BSL-1.0
"""PyTorch between processes: tensors in pages, and the workers of a DataLoader."""
import multiprocessing.resource_sharer
import re

import byre
import numpy as np
import pytest
from byre._leaves import address_of
from processes import started
from pytorch import needs_pytorch, torch
from support import N, pickled, refused, sent

pytestmark = needs_pytorch
WORKERS, ROWS = 2, 1 << 12
TENSORS = {
    "all": lambda t: t,
    "parameter": lambda t: torch.nn.Parameter(t),
    "parameter without gradient": lambda t: torch.nn.Parameter(t, requires_grad=False),
    "requires a gradient": lambda t: t.requires_grad_(),
    "transposed": lambda t: t.reshape(256, -1).T,
    "a part": lambda t: t[100 : N - 7],
    "bfloat16": lambda t: t.view(torch.bfloat16),
}
VIEWS = {
    **TENSORS,
    "a row": lambda t: t.reshape(256, -1)[3],
    "a column": lambda t: t.reshape(256, -1)[:, 3],
    "no element": lambda t: t[:0],
}


def bits_of(t):
    return t.detach().contiguous().view(torch.uint8).numpy().tobytes() if t.numel() else b""


@pytest.mark.parametrize("name, send", [*((name, pickled) for name in TENSORS), *((name, sent) for name in VIEWS)])
def test_received_tensor_equals_the_sent_one_and_writes_are_independent(name, send):
    source = VIEWS[name](byre.to_pages(torch.arange(N, dtype=torch.float64)))
    expected = source.detach().clone()
    received, *counts = send(source)
    assert counts == [name in TENSORS, 0] and byre.is_lazy(received) == (name in TENSORS or not received.numel())
    assert type(received) is type(source) and received.requires_grad == source.requires_grad
    assert received.dtype == source.dtype and bits_of(received) == bits_of(expected)
    assert name not in TENSORS or received.stride() == source.stride()
    with torch.no_grad():
        source.fill_(2)
        assert bits_of(received) == bits_of(expected)
        received.fill_(3)
    assert bool((source == 2).all())


def test_tensors_of_other_memory_are_sent_by_their_bytes():
    tree = {"state": torch.nn.Linear(3, 300).state_dict(), "sparse": torch.eye(3).to_sparse()}
    tree["half"] = torch.arange(5, dtype=torch.bfloat16)
    received, *counts = sent(tree)
    assert counts == [0, 0] and all(torch.equal(x, tree["state"][name]) for name, x in received["state"].items())
    assert torch.equal(received["sparse"].to_dense(), torch.eye(3))
    assert torch.equal(received["half"], tree["half"]) and received["half"].dtype == torch.bfloat16
    with refused(byre.ArgumentError, "send: ", "a result of autograd", "tensor.detach()"):
        sent(torch.ones(2, requires_grad=True) * 2)


@pytest.mark.parametrize("count, is_in_pages", [(2, False), (140, True)])
def test_parameters_sent_by_their_bytes_remain_parameters(count, is_in_pages):
    model = torch.nn.Sequential(*[torch.nn.Linear(128, 128, bias=False) for _ in range(count)])
    model[1].weight.requires_grad_(False)
    if is_in_pages:
        byre.to_pages(model)
    tensor = torch.ones(3, requires_grad=True)
    received, *counts = sent({"model": model, "tensor": tensor})
    assert counts == [128 if is_in_pages else 0, 0] and received["tensor"].requires_grad
    for one, other in zip(model, received["model"]):
        assert type(other.weight) is torch.nn.Parameter and torch.equal(one.weight, other.weight)
        assert one.weight.requires_grad == other.weight.requires_grad


@pytest.mark.filterwarnings("ignore:Named tensors")
@pytest.mark.parametrize("send", [sent, pickled])
def test_named_tensors_are_not_sent_without_their_names(send):
    named = byre.to_pages(torch.zeros(N).reshape(2, -1)).rename("a", "b")
    with pytest.raises(RuntimeError, match="[Nn]amed"):
        send(named)
    assert byre.copy(named).names == byre.to_pages({"x": named})["x"].names == ("a", "b")


class Cached:
    """Omits a tensor that cannot be sent."""

    def __init__(self):
        self.kept, self.cache = np.ones(3), torch.ones(3, requires_grad=True) * 2

    def __getstate__(self):
        return {"kept": self.kept}


def test_tensor_that_a_pickle_omits_may_be_unusable():
    received, *_ = sent([Cached()])
    assert received[0].kept.tolist() == [1, 1, 1] and not hasattr(received[0], "cache")


def write_five(queue):
    queue.get()[0] = 5


@pytest.mark.parametrize("in_pages", [False, True])
def test_tensor_in_shared_memory_remains_shared(in_pages):
    x = byre.to_pages(torch.zeros(N)) if in_pages else torch.zeros(N)
    x.share_memory_()
    queue = torch.multiprocessing.get_context("fork").Queue()
    queue.put(x)
    with started("fork", write_five, queue):
        pass
    assert x[0] == 5
    queue.close()
    queue.join_thread()
    multiprocessing.resource_sharer.stop()


class Arrays(torch.utils.data.Dataset if torch else object):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        return byre.ones(N)


def test_workers_of_a_loader_that_is_left_early_end(monkeypatch):
    monkeypatch.setattr(torch.utils.data._utils, "MP_STATUS_CHECK_INTERVAL", 100)  # seconds until they are killed
    loader = torch.utils.data.DataLoader(Arrays(), batch_size=None, num_workers=2, multiprocessing_context="fork")
    batches = iter(loader)
    assert next(batches)[5] == 1
    workers = batches._workers
    batches._worker_result_queue._reader.poll(None)  # an item that is never read
    del batches
    assert [worker.exitcode for worker in workers] == [0, 0]


def test_module_in_pages_is_sent_with_the_ties_of_its_parameters():
    model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.Linear(512, 512))
    model[1].weight = model[0].weight
    byre.to_pages(model)
    received, *counts = sent(model)
    assert counts == [1, 0] and received[1].weight is received[0].weight
    assert torch.equal(received[0].weight, model[0].weight)
    assert byre.is_lazy(received[0].weight) and type(received[0].weight) is torch.nn.Parameter


class Rows(torch.utils.data.Dataset if torch else object):
    """An item has the sum of the unwritten rows, the row that the worker writes, and the bytes that it has copied."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return 4 * WORKERS

    def __getitem__(self, index):
        total = int(self.rows[len(self) :].sum())
        self.rows[index] += 1
        return total, self.rows[index].copy(), copied_nbytes(self.rows), torch.utils.data.get_worker_info().id


def copied_nbytes(array):
    """The bytes of the array that are in pages of this process only."""
    nbytes, is_inside = 0, False
    with open("/proc/self/smaps") as smaps:
        for line in smaps:
            if bounds := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
                is_inside = int(bounds[1], 16) <= address_of(array) < int(bounds[2], 16)
            elif is_inside and line.startswith("Anonymous:"):
                nbytes += int(line.split()[1]) << 10
    return nbytes


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_data_loader_share_what_they_read(method):
    rows = byre.ones((ROWS, 4096), "u1")
    before = byre.stats()
    loader = torch.utils.data.DataLoader(Rows(rows), batch_size=None, num_workers=WORKERS,
                                         multiprocessing_context=method)
    items = list(loader)
    assert {int(item[3]) for item in items} == set(range(WORKERS)) and len(items) == 4 * WORKERS
    for total, row, nbytes, _ in items:
        assert total == rows[len(items) :].sum() and (np.asarray(row) == 2).all()
        assert 0 < nbytes <= len(items) * 4096 < rows.nbytes // 64
    assert (byre.stats() - before).bytes_copied == 0 and (rows == 1).all()
