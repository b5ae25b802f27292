# SPDX-License-Identifier: BSL-1.0
"""Copies of PyTorch's tensors and modules."""
import copy as standard
import io
import subprocess
import sys

import byre
import numpy as np
import pytest
from pytorch import torch
from support import N, copied, refused

if torch is None:
    pytest.skip("PyTorch is not installed", allow_module_level=True)

DTYPES = ["bool", "uint8", "int16", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
DTYPES += [name for name in ("uint16", "float8_e4m3fn", "float8_e5m2") if hasattr(torch, name)]


def bits(t):
    """The elements in order, as bytes."""
    t = t.detach().resolve_conj().clone(memory_format=torch.contiguous_format)
    return torch.empty(0, dtype=torch.uint8).set_(storage(t)).numpy().tobytes() if t.numel() else b""


def storage(t):
    if hasattr(t, "untyped_storage"):
        return t.untyped_storage()
    return t.storage().untyped() if hasattr(t.storage(), "untyped") else t.storage()._untyped()


def in_pages(*shape, dtype="float32"):
    """A tensor 0, 1, ... in pages."""
    return byre.to_pages(torch.arange(int(np.prod(shape))).reshape(shape).to(getattr(torch, dtype)))


def same(t, expected):
    return (
        type(t) is type(expected)
        and (t.dtype, t.shape, t.stride()) == (expected.dtype, expected.shape, expected.stride())
        and t.requires_grad == expected.requires_grad
        and bits(t) == bits(expected)
    )


VIEWS = {
    "transposed": lambda t: t.T,
    "channels last": lambda t: t.view(4, 8, 64, -1).contiguous(memory_format=torch.channels_last),
    "a part": lambda t: t[100:],
    "a parameter": lambda t: torch.nn.Parameter(t),
    "a frozen parameter": lambda t: torch.nn.Parameter(t, requires_grad=False),
    "a leaf with requires_grad": lambda t: t.detach().requires_grad_(),
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
}


@pytest.mark.parametrize("name", [*DTYPES, *VIEWS])
def test_tensor_in_pages_is_copied_lazily_and_apart(name):
    source = VIEWS.get(name, lambda t: t)(in_pages(256, 512, dtype=name if name in DTYPES else "float32"))
    if name == "channels last":
        source = byre.to_pages(source)
    copy, *counts = copied(source)
    assert same(copy, source) and counts == [1, 0]
    assert copy.storage_offset() == source.storage_offset()
    assert copy._base is None and copy.is_leaf
    with torch.no_grad():
        before = source.clone()
        source[0, 3] = 0
        assert bits(copy) == bits(before)
        changed = source.clone()
        copy[:2] = 1
        assert bits(source) == bits(changed)


@pytest.mark.parametrize("name", AT_ONCE)
def test_other_tensors_are_copied_as_clone_does(name):
    source = AT_ONCE[name]()
    copy, *counts = copied(source)
    assert same(copy, source.detach().clone().requires_grad_(source.requires_grad))
    assert counts == [0, source.numel() * source.element_size()]
    if source.numel():
        assert copy.data_ptr() != source.data_ptr()
        with refused(byre.CopyRefused, "tensor of", "lazily"):
            byre.copy(source, lazy=True)


@pytest.mark.filterwarnings("ignore")
def test_sparse_quantized_and_meta_tensors_are_cloned():
    sparse = torch.eye(3).to_sparse()
    quantized = torch.quantize_per_tensor(torch.arange(3.0), 0.5, 0, torch.qint8)
    copy = byre.copy([sparse, quantized, torch.empty(3, device="meta")])
    assert torch.equal(copy[0].to_dense(), torch.eye(3)) and copy[0].is_sparse
    assert torch.equal(copy[1].dequantize(), torch.arange(3.0)) and copy[1].q_scale() == 0.5
    assert copy[2].device.type == "meta" and copy[2].shape == (3,)


def test_copy_has_a_leafs_gradient():
    source = in_pages(256, 512).requires_grad_()
    (source * 2).sum().backward()
    copy = byre.copy(source)
    source.grad.zero_()
    assert (copy.grad == 2).all()


def test_result_of_autograd_is_refused():
    result = torch.ones(3, requires_grad=True) * 2
    with refused(TypeError, 'copy: the tensor "a.0"', "autograd", "detach()"):
        byre.copy({"a": [result]})


def test_tensors_of_one_storage_share_one_in_the_copy():
    flat = in_pages(1000, 100)
    source = [flat, flat[10:20], flat.view(-1)[7:]]
    copy = byre.copy(source)
    copy[0][10, 5] = -1
    assert copy[1][0, 5] == -1 and copy[2][998] == -1 and source[1][0, 5] == 1005
    assert len({storage(t).data_ptr() for t in copy}) == 1
    copied, cloned = io.BytesIO(), io.BytesIO()
    torch.save(copy, copied)
    torch.save(standard.deepcopy(source), cloned)
    assert abs(len(copied.getvalue()) - len(cloned.getvalue())) < 1000


def test_small_overlapping_tensors_share_memory_in_the_copy():
    flat = torch.arange(10)
    copy = byre.copy([flat[1:5], flat[2:], flat.view(torch.uint8)[9:20]])
    copy[1][0] = 77
    assert copy[0].tolist() == [1, 77, 3, 4] and copy[2].tolist()[7:] == [77, 0, 0, 0]
    assert flat[2] == 2
    misaligned = torch.from_numpy(np.append(np.zeros(1, "u1"), np.arange(40.0).view("u1"))[1:].view("f8"))
    copy = byre.copy([misaligned[20:], misaligned[21:]])
    copy[1][0] = 77
    assert copy[0].tolist() == [20, 77, *range(22, 40)]


def test_array_and_tensor_of_one_memory_share_it_in_the_copy():
    for array in (byre.zeros(N), np.zeros(3)):
        copy = byre.copy({"array": array, "tensor": torch.from_numpy(array)})
        copy["array"][1] = 5
        assert copy["tensor"][1] == 5 and array[1] == 0


def net():
    torch.manual_seed(1)
    layers = [torch.nn.Linear(256, 256), torch.nn.BatchNorm1d(256), torch.nn.Linear(256, 256)]
    layers[2].weight = layers[0].weight
    return torch.nn.Sequential(*layers)


def test_module_in_pages_is_copied_lazily_with_tied_weights():
    with refused(byre.CopyRefused, 'the tensor "model.0.weight" of 262144 bytes'):
        byre.copy({"model": net()}, lazy=True)
    model = byre.to_pages(net())
    copy, _, bytes_copied = copied(model, lazy=True)
    assert bytes_copied == 0
    assert type(copy) is type(model) and copy[2].weight is copy[0].weight
    expected = {name: t.clone() for name, t in model.state_dict().items()}
    model(torch.ones(4, 256)).sum().backward()
    with torch.no_grad():
        model[0].weight.fill_(0)
    assert all(torch.equal(t, expected[name]) for name, t in copy.state_dict().items())
    assert [type(p) for p in copy.parameters()] == [torch.nn.Parameter] * 5


def train(model, optimizer, steps):
    for step in range(steps):
        optimizer.zero_grad()
        (model(torch.full((4, 256), float(step))) ** 2).mean().backward()
        optimizer.step()


def test_training_goes_on_from_a_copy_as_from_the_source():
    model = net()
    optimizer = torch.optim.Adam(model.parameters())
    train(model, optimizer, 2)
    byre.to_pages([model, optimizer])
    other, other_optimizer = byre.copy((model, optimizer), lazy=True)
    assert other_optimizer.param_groups[0]["params"][0] is other[0].weight
    train(model, optimizer, 3)
    train(other, other_optimizer, 3)
    states = zip(model.state_dict().values(), other.state_dict().values())
    assert all(torch.equal(a, b) and a.data_ptr() != b.data_ptr() for a, b in states)


def test_byre_does_not_import_pytorch():
    program = "import byre, sys; byre.copy([byre.zeros(100_000)]); byre.to_pages([1]); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
