# SPDX-License-Identifier: BSL-1.0
"""PyTorch's tensors, modules and optimizers: copies of them, and moves to pages."""
import contextlib
import copy as standard
import ctypes
import io

import byre
import numpy as np
import pytest
from support import copied, refused

torch = pytest.importorskip("torch")

DTYPES = ["bool", "uint8", "int16", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
DTYPES += [name for name in ("uint16", "float8_e4m3fn", "float8_e5m2") if hasattr(torch, name)]


def bits(t):
    """The elements in order, as bytes."""
    return t.detach().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def in_pages(*shape, dtype="float32"):
    """A tensor 0, 1, ... in pages."""
    return byre.to_pages(torch.arange(int(np.prod(shape))).reshape(shape).to(getattr(torch, dtype)))


IN_PAGES = {
    **{dtype: lambda dtype=dtype: in_pages(256, 512, dtype=dtype) for dtype in DTYPES},
    "transposed": lambda: in_pages(256, 512).T,
    "channels last": lambda: byre.to_pages(torch.rand(4, 8, 64, 64).contiguous(memory_format=torch.channels_last)),
    "a part": lambda: in_pages(256, 512)[100:],
    "a parameter": lambda: torch.nn.Parameter(in_pages(256, 512)),
    "a frozen parameter": lambda: torch.nn.Parameter(in_pages(256, 512), requires_grad=False),
    "a leaf with requires_grad": lambda: in_pages(256, 512).requires_grad_(),
}
AT_ONCE = {
    "outside of pages": lambda: torch.arange(12.0).reshape(3, 4).T,
    "requires_grad": lambda: torch.ones(3, requires_grad=True),
    "no dimension": lambda: torch.tensor(3),
    "no element": lambda: torch.empty(0, 3),
    "bfloat16": lambda: torch.ones(3, dtype=torch.bfloat16),
    "expanded": lambda: in_pages(1000, 100).expand(2, 1000, 100),
    "every second": lambda: in_pages(256, 512)[:, ::2],
    "conjugated": lambda: in_pages(1000, 100, dtype="complex64").conj(),
    "negated": lambda: torch._neg_view(in_pages(1000, 100)),
}


@pytest.mark.parametrize("name", [*IN_PAGES, *AT_ONCE])
def test_copy_of_a_tensor_equals_its_clone_and_is_lazy_in_pages(name):
    source = {**IN_PAGES, **AT_ONCE}[name]()
    expected, nbytes = source.detach().clone(), source.numel() * source.element_size()
    copy, *counts = copied(source)
    assert counts == ([0, nbytes] if name in AT_ONCE else [1, 0])
    assert type(copy) is type(source) and copy.requires_grad == source.requires_grad
    assert (copy.dtype, copy.shape, copy.stride()) == (expected.dtype, expected.shape, expected.stride())
    assert copy.storage_offset() == source.storage_offset() and copy._base is None and copy.is_leaf
    with refused(byre.CopyRefused, "tensor of", "lazily") if counts[1] else contextlib.nullcontext():
        byre.copy(source, lazy=True)
    ctypes.memset(source.data_ptr(), 1, min(nbytes, 16))
    assert bits(copy) == bits(expected) and (bits(source) != bits(expected) or not nbytes)
    written = source.detach().clone()
    ctypes.memset(copy.data_ptr(), 0, min(nbytes, 16))
    assert bits(source) == bits(written)


@pytest.mark.filterwarnings("ignore")
def test_sparse_quantized_and_meta_tensors_are_copied_but_not_moved():
    sparse, meta = torch.eye(3).to_sparse(), torch.empty(3, device="meta")
    quantized = torch.quantize_per_tensor(torch.arange(3.0), 0.5, 0, torch.qint8)
    copy = byre.copy([sparse, quantized, meta])
    assert torch.equal(copy[0].to_dense(), torch.eye(3)) and copy[0].is_sparse
    assert torch.equal(copy[1].dequantize(), torch.arange(3.0)) and copy[1].q_scale() == 0.5
    assert copy[2].device.type == "meta" and copy[2].shape == (3,)
    assert all(byre.to_pages([t])[0] is t for t in (sparse, quantized, meta))


@pytest.mark.parametrize("function", [byre.copy, byre.to_pages])
def test_autograd_leaf_keeps_its_gradient_and_non_leaf_is_rejected(function):
    leaf = torch.ones(256, 512, requires_grad=True)
    (leaf * 2).sum().backward()
    result = function(leaf)
    leaf.grad.zero_()
    assert result.requires_grad and result.is_leaf and (result.grad == 2).all()
    with refused(TypeError, f'{function.__name__}: the tensor "a.0"', "autograd", "detach()"):
        function({"a": [leaf * 2]})


MISALIGNED = np.append(np.zeros(1, "u1"), np.arange(-20, 30, dtype="f4").view("u1"))[1:].view("f4")


@pytest.mark.parametrize("flat", [in_pages(100_000), torch.arange(30.0), torch.from_numpy(MISALIGNED)[20:]])
def test_tensors_and_arrays_that_share_memory_share_it_in_the_copy(flat):
    source = [flat, flat[6:], flat[2:8].view(2, 3), flat.view(torch.uint8)[9:20], flat.numpy()]
    copy = byre.copy(source)
    assert all(bits(t) == bits(expected) for t, expected in zip(copy[:4], source))
    copy[0][3:5] = -1
    assert copy[2].tolist() == [[2, -1, -1], [5, 6, 7]] and copy[4][2:6].tolist() == [2, -1, -1, 5]
    assert bits(copy[3]) == bits(copy[0])[9:20] and source[0][3] == 3
    saved, cloned = io.BytesIO(), io.BytesIO()
    torch.save(copy[:3], saved)  # writes each storage once
    torch.save(standard.deepcopy(source[:3]), cloned)
    assert abs(len(saved.getvalue()) - len(cloned.getvalue())) < 1000


def test_to_pages_moves_tensors_of_one_storage_together():
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
    source = [torch.ones(1000, 1000, dtype=torch.bfloat16), torch.ones(3)]
    moved = byre.to_pages([*source, source[0][3:]])
    assert byre.is_lazy(moved[0]) and not byre.is_lazy(source[0])
    assert all(torch.equal(t, expected) for t, expected in zip(moved, source))
    moved[0][4, 4] = 0
    assert moved[2][1, 4] == 0 and source[0][4, 4] == 1


def begun(name, **options):
    """A model and an optimizer after two steps."""
    torch.manual_seed(1)
    layers = [torch.nn.Linear(256, 256), torch.nn.BatchNorm1d(256), torch.nn.Linear(256, 256)]
    layers[1].frozen = torch.nn.Parameter(torch.ones(200, 100).T, requires_grad=False)
    layers[2].weight = layers[0].weight
    model = torch.nn.Sequential(*layers)
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.01, **options)
    train(model, optimizer, 2)
    return model, optimizer


def train(model, optimizer, steps):
    def closure():
        optimizer.zero_grad()
        loss = (model(torch.full((4, 256), float(step))) ** 2).mean()
        loss.backward()
        return loss

    for step in range(steps):
        optimizer.step(closure)


@pytest.mark.parametrize("name, options", [("Adam", {}), ("SGD", {"momentum": 0.9}), ("LBFGS", {})])
def test_training_in_pages_or_from_a_copy_gives_equal_results(name, options):
    expected = begun(name, **options)
    model, optimizer = begun(name, **options)
    tensors = model.state_dict(keep_vars=True)
    before = {key: (t.detach().clone(), t.stride(), t.requires_grad, t.data_ptr()) for key, t in tensors.items()}
    with refused(byre.CopyRefused, 'the tensor "model.0.weight" of 262144 bytes'):
        byre.copy({"model": model}, lazy=True)

    assert byre.to_pages(optimizer) is optimizer and byre.is_lazy(model[0].weight) and byre.is_lazy(optimizer)
    moved = byre.to_pages({"model": model, "mean": model[1].running_mean, "weight": model[0].weight})
    assert moved["model"] is model and moved["mean"] is model[1].running_mean and moved["weight"] is model[0].weight
    for key, t in model.state_dict(keep_vars=True).items():
        value, stride, requires_grad, address = before[key]
        assert t is tensors[key] and t.data_ptr() != address and t.data_ptr() % 64 == 0
        assert torch.equal(t, value) and t.stride() == stride and t.requires_grad == requires_grad
    addresses = [t.data_ptr() for t in tensors.values()]
    byre.to_pages(model)
    assert [t.data_ptr() for t in tensors.values()] == addresses

    (copy, copied_optimizer), _, bytes_copied = copied((model, optimizer), lazy=True)
    assert bytes_copied == 0 and type(copy) is type(model) and copy[2].weight is copy[0].weight
    assert [type(p) for p in copy.parameters()] == [torch.nn.Parameter] * 6
    assert copied_optimizer.param_groups[0]["params"][0] is copy[0].weight
    all_trained = [expected, (model, optimizer), (copy, copied_optimizer)]
    for trained in all_trained[: 2 if name == "LBFGS" else 3]:  # PyTorch's copies of an LBFGS lack an attribute
        train(*trained, 3)
        states = zip(trained[0].state_dict().values(), expected[0].state_dict().values())
        assert all(torch.equal(t, expected) for t, expected in states)


def test_shared_tensor_is_independent_of_later_writes():
    source = torch.nn.Parameter(torch.zeros(256, 512))
    shared = byre.Shared(source)
    first = shared.get()
    with torch.no_grad():
        source += 1
        first += 2
    assert type(first) is torch.nn.Parameter and byre.is_lazy(first) and not shared.get().any()
    shared.set({"weight": source.detach(), "bias": torch.ones(3, dtype=torch.float16)})
    assert shared.get()["weight"].sum() == 256 * 512 and shared.get()["bias"].dtype == torch.float16
    with refused(byre.ArgumentError, 'Shared.set: the tensor "a"', "tensor.detach()"):
        shared.set({"a": source * 2})
