# SPDX-License-Identifier: BSL-1.0
"""Arrays and tensors that move to pages."""
import collections
import dataclasses
import threading

import byre
import numpy as np
import pytest
from pytorch import needs_pytorch, torch
from support import DENSE, VIEWS, N, copied, ramp, refused, same


@dataclasses.dataclass
class State:
    weights: np.ndarray
    name: str


class Other:
    pass


SMALL = {
    "small": lambda: np.arange(5),
    "small fortran order": lambda: np.asfortranarray(np.arange(6).reshape(2, 3)),
    "small backwards": lambda: np.arange(9)[::-1],
    "small broadcast": lambda: np.broadcast_to(np.arange(3), (2, 3)),
    "small matrix": lambda: np.ones((3, 3)).view(np.matrix),
    "no dimension": lambda: np.array(2.5),
}


@pytest.mark.parametrize("name", [*VIEWS, *SMALL])
def test_array_gives_an_equal_array_in_pages(name):
    source = SMALL[name]() if name in SMALL else VIEWS[name](np.arange(N, dtype=float))
    expected = source.copy(order="K")
    moved = byre.to_pages(source)
    assert same(moved, expected) and moved.strides == (source if name in DENSE else expected).strides
    assert getattr(moved, "tag", None) == getattr(source, "tag", None)
    assert "not in pages" not in byre.explain(moved)
    assert byre.is_lazy(moved) == (moved.nbytes >= 1 << 16)
    assert moved.flags.writeable and not np.shares_memory(moved, source)
    assert byre.to_pages(moved) is moved


def test_array_that_cannot_move_stays_itself():
    for source in (np.array([{}], object), np.ma.masked_array([1, 2]), np.empty(0)):
        assert byre.to_pages(source) is source


def test_containers_are_new_and_other_objects_stay_themselves():
    others = [Other(), threading.Lock(), "text", len]
    state = State(np.arange(N), "name")
    key = Other()
    tree = {"state": state, key: others, "pair": collections.namedtuple("Pair", "a b")(1, np.zeros(N)), "set": {1}}
    tree["tree"] = tree
    moved = byre.to_pages(tree)
    assert moved is not tree and moved["tree"] is moved and list(moved) == list(tree)
    assert moved[key] is not others and all(a is b for a, b in zip(moved[key], others))
    assert type(moved["state"]) is State and state.weights is tree["state"].weights
    assert byre.is_lazy(moved["state"].weights) and (moved["state"].weights == np.arange(N)).all()
    assert type(moved["pair"]) is type(tree["pair"]) and byre.is_lazy(moved["pair"].b)
    with refused(TypeError, "to_pages: unsupported type Other"):
        byre.to_pages(Other())


def test_many_small_arrays_become_lazy_as_a_whole():
    tree = {str(n): np.full(n % 50, n, ["f4", "i8", "u1"][n % 3]) for n in range(20_000)}
    moved = byre.to_pages(tree)
    assert all(same(moved[name], tree[name]) for name in tree)
    addresses = sorted((x.__array_interface__["data"][0], x.nbytes) for x in moved.values() if x.size)
    assert all(address % 64 == 0 for address, _ in addresses)
    assert all(a + n <= b for (a, n), (b, _) in zip(addresses, addresses[1:]))
    assert byre.is_lazy(moved)
    copy, lazy_copies, bytes_copied = copied(moved)
    nbytes = sum(-(-n // 64) * 64 for _, n in addresses)
    assert bytes_copied == 0 and nbytes >> 20 <= lazy_copies <= (nbytes >> 20) + 2
    moved["7"][:] = 1
    assert all(same(copy[name], tree[name]) for name in tree)


def test_arrays_that_overlap_move_together_and_those_in_pages_stay():
    inside = ramp()
    moved = byre.to_pages([inside, inside[10:], np.zeros(N)])
    assert moved[0] is inside and moved[1].base is inside and byre.is_lazy(moved[2])
    for n in (100, N):
        x = np.arange(n)
        moved = byre.to_pages([x[1:], x.view("u1")[3:], x[::2], x])
        moved[3][4] = -1
        assert moved[0][3] == -1 and moved[2][2] == -1 and moved[1][29] == 255 and x[4] == 4
        assert all(array.flags.aligned for array in moved)


@needs_pytorch
def test_module_moves_in_place_and_stays_equal():
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 24), torch.nn.BatchNorm2d(64), torch.nn.Linear(9, 9))
    model[0] = model[0].to(memory_format=torch.channels_last)
    model[2].bias.requires_grad_(False)
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    before = {name: (t.detach().clone(), t.stride(), t.requires_grad, t.data_ptr()) for name, t in tensors.items()}
    tree = {"model": model, "weight": model[0].weight}
    moved = byre.to_pages(tree)
    assert moved["model"] is model and moved["weight"] is model[0].weight
    for name, t in {**dict(model.named_parameters()), **dict(model.named_buffers())}.items():
        value, stride, requires_grad, address = before[name]
        assert t is tensors[name] and t.data_ptr() != address and t.data_ptr() % 64 == 0
        assert torch.equal(t, value) and t.stride() == stride and t.requires_grad == requires_grad
    assert byre.is_lazy(model[0])
    addresses = [t.data_ptr() for t in tensors.values()]
    byre.to_pages(model)
    assert [t.data_ptr() for t in tensors.values()] == addresses


@needs_pytorch
def test_tensors_that_share_a_storage_share_it_in_pages():
    flat = torch.arange(100_000.0)
    a, b = torch.nn.Module(), torch.nn.Module()
    a.register_parameter("w", torch.nn.Parameter(flat[:40_000].view(200, 200)))
    b.register_parameter("w", torch.nn.Parameter(flat[60_000:].view(200, 200)))
    b.register_parameter("tied", torch.nn.Parameter(a.w.data.T))
    byre.to_pages([a, b])
    a.w.data[0, 1] = -1
    assert b.tied[1, 0] == -1 and flat[1] == 1
    assert b.w.data_ptr() - a.w.data_ptr() == 240_000 and b.tied.stride() == (1, 200)
    assert (b.w.flatten() == flat[60_000:]).all()
    assert byre.is_lazy([a, b])


@needs_pytorch
def test_plain_tensor_of_a_tree_gives_a_new_tensor():
    source = {"t": torch.ones(1000, 1000, dtype=torch.bfloat16), "small": torch.ones(3, requires_grad=True)}
    source["view"] = source["t"][3:]
    moved = byre.to_pages(source)
    assert byre.is_lazy(moved["t"]) and not byre.is_lazy(source["t"])
    assert torch.equal(moved["t"], source["t"]) and torch.equal(moved["small"], source["small"])
    assert moved["small"].requires_grad and moved["small"].is_leaf
    moved["t"][4, 4] = 0
    assert moved["view"][1, 4] == 0 and source["t"][4, 4] == 1


@needs_pytorch
@pytest.mark.parametrize("name", ["Adam", "SGD", "LBFGS"])
def test_optimizer_in_pages_makes_the_steps_it_made_before(name):
    def run(moves):
        torch.manual_seed(2)
        model = torch.nn.Linear(200, 200)
        options = {"momentum": 0.9} if name == "SGD" else {}
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.01, **options)

        def closure():
            optimizer.zero_grad()
            loss = (model(torch.ones(4, 200)) ** 2).mean()
            loss.backward()
            return loss

        for step in range(4):
            optimizer.step(closure)
            if step == 1 and moves:
                assert byre.to_pages(optimizer) is optimizer
                assert byre.is_lazy(model.weight) and byre.is_lazy(optimizer)
        return model.weight.detach()

    assert torch.equal(run(moves=True), run(moves=False))


@needs_pytorch
def test_sparse_and_meta_tensors_stay_and_graphs_are_refused():
    for t in (torch.empty(3, device="meta"), torch.eye(3).to_sparse()):
        assert byre.to_pages([t])[0] is t
    with refused(TypeError, "to_pages: the tensor", "autograd", "detach()"):
        byre.to_pages(torch.ones(3, requires_grad=True) * 2)
