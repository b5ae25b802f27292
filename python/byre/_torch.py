# SPDX-License-Identifier: BSL-1.0
"""PyTorch, if the program has imported it. Only load() and mmap() import it, for dtypes that NumPy lacks."""
from __future__ import annotations

import copy
import importlib
import sys
from typing import Any

import numpy as np
from byre._errors import ArgumentError


def _torch() -> Any:
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "Tensor") and hasattr(torch, "optim") else None


def is_tensor(x: Any) -> bool:
    torch = _torch()
    return torch is not None and isinstance(x, torch.Tensor)


def owner_types() -> tuple[type, ...]:
    """The types whose tensors to_pages() moves in place."""
    torch = _torch()
    return (torch.nn.Module, torch.optim.Optimizer) if torch else ()


def _is_own_type(t: Any) -> bool:
    return type(t) in (_torch().Tensor, _torch().nn.Parameter)


def is_plain(t: Any) -> bool:
    """True if the elements are in the CPU's memory, and sizes and strides describe them completely."""
    is_strided = _is_own_type(t) and t.layout is _torch().strided and t.device.type == "cpu"
    return is_strided and not (t.is_quantized or t.is_conj() or t.is_neg() or t.has_names())


def gradient(x: Any) -> list[tuple[str, Any]]:
    """The gradient that is copied with a tensor. As in copy.deepcopy(), the gradient of a parameter is not copied."""
    has_one = is_tensor(x) and type(x) is _torch().Tensor and x.is_leaf and x.grad is not None
    return [("grad", x.grad)] if has_one else []


def set_gradients(leaves: list[Any], copies: dict[int, Any]) -> None:
    for leaf in leaves:
        new = copies[id(leaf.value)]
        for _, grad in gradient(leaf.value):
            if new is not leaf.value:
                new.grad = copies[id(grad)]


def expect_usable(leaf: Any, operation: str) -> None:
    t = leaf.value
    if not is_tensor(t):
        return
    if operation != "save" and not t.is_leaf:
        problem, way_out = "a result of autograd, whose graph a copy would lose", "tensor.detach()"
    elif operation in ("save", "to_pages") and t.device.type not in ("cpu", "meta"):
        problem, way_out = f"on device {t.device}", "tensor.cpu()"
    elif operation == "save" and (t.layout is not _torch().strided or t.is_quantized or t.device.type == "meta"):
        problem, way_out = "sparse, quantized or of device meta", "tensor.to_dense() or tensor.dequantize()"
    else:
        return
    raise ArgumentError(f"{operation}: the {leaf.title} is {problem}. Pass {way_out} in its place.")


def _storage(t: Any) -> Any:
    if hasattr(t, "untyped_storage"):  # since PyTorch 2.0
        return t.untyped_storage()
    storage = t.storage()
    return storage.untyped() if hasattr(storage, "untyped") else storage._untyped()  # 1.13, 1.12


def storage_key(t: Any) -> tuple[int, int]:
    storage = _storage(t)
    return storage.data_ptr(), storage.nbytes()


def _is_parameter(t: Any) -> bool:
    return isinstance(t, _torch().nn.Parameter)


def _of_kind(new: Any, is_parameter: bool, requires_grad: bool) -> Any:
    if is_parameter:
        return _torch().nn.Parameter(new, requires_grad)
    return new.requires_grad_() if requires_grad else new


def _same_kind(new: Any, t: Any) -> Any:
    return _of_kind(new, _is_parameter(t), t.requires_grad)


def view(t: Any, memory: np.ndarray[Any, Any], start: int, storages: dict[tuple[int, int], Any]) -> Any:
    """The tensor t over bytes that were copied from the address `start` on. Shared storages stay shared."""
    begin, nbytes = storage_key(t)
    begin, end = max(begin, start), min(begin + nbytes, start + len(memory))
    itemsize = t.element_size()
    if (t.data_ptr() - begin) % itemsize:
        begin = t.data_ptr()
    if (begin, end) not in storages:
        storages[begin, end] = _storage(_torch().from_numpy(memory[begin - start : end - start]))
    new = _torch().empty(0, dtype=t.dtype, device="cpu")
    new.set_(storages[begin, end], (t.data_ptr() - begin) // itemsize, t.shape, t.stride())
    return _same_kind(new, t)


def copied(t: Any) -> Any:
    """A copy of the tensor, made immediately."""
    return _same_kind(t.detach().clone(), t) if _is_own_type(t) else copy.deepcopy(t)


def resolved(t: Any) -> Any:
    """The tensor without its gradient, and with conj() and neg() applied, which PyTorch defers."""
    return t.detach().resolve_conj().resolve_neg()


def array_of(t: Any) -> Any:
    """The tensor as an array, or None if NumPy lacks its dtype."""
    try:
        return resolved(t).numpy()
    except TypeError:
        return None


def dtype_to_load(name: str) -> Any:
    """The dtype of this name, of PyTorch if it can be imported, else of ml_dtypes, else None."""
    for module in ("torch", "ml_dtypes"):
        try:
            dtype = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
        return np.dtype(dtype) if module == "ml_dtypes" else dtype
    return None


def tensor_of(memory: np.ndarray[Any, Any], dtype: Any, shape: tuple[int, ...], *stride: tuple[int, ...]) -> Any:
    storage = _storage(_torch().from_numpy(memory))
    return _torch().empty(0, dtype=dtype, device="cpu").set_(storage, 0, shape, *stride)


def is_picklable(t: Any) -> bool:
    """True if recipe() describes the tensor, apart from its bytes."""
    return is_plain(t) and (t.is_leaf or not t.requires_grad)


def recipe(t: Any, dense: Any) -> tuple[Any, ...]:
    """The arguments with which rebuilt() makes the tensor from the bytes of `dense`, which is t or has its elements."""
    return t.dtype, tuple(t.shape), dense.stride(), _is_parameter(t), t.requires_grad


def rebuilt(memory: Any, offset: int, nbytes: int, dtype: Any, shape: tuple[int, ...], stride: tuple[int, ...],
            is_parameter: bool, requires_grad: bool) -> Any:
    """The tensor over `nbytes` bytes of `memory` from `offset` on."""
    importlib.import_module("torch")
    array = np.frombuffer(memory, np.uint8)[offset : offset + nbytes]
    return _of_kind(tensor_of(array, dtype, shape, stride), is_parameter, requires_grad)
