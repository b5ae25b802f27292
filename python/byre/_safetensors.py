# SPDX-License-Identifier: BSL-1.0
"""The .safetensors format: dtypes, headers, and the tensors of a file."""
from __future__ import annotations

import json
import math
import os
import sys
import warnings
from typing import Any, BinaryIO, Callable, Sequence

import numpy as np
from byre import _byre, _leaves, _making, _torch
from byre._errors import ArgumentError, FileError
from byre._leaves import Leaf, address_of, bytes_at, layout_of
from byre._npy import Write

# In the order of the reference implementation: larger elements come later.
_CODES = "BOOL U8 I8 F8_E5M2 F8_E4M3 I16 U16 F16 BF16 I32 U32 F32 C64 F64 I64 U64".split()
_DTYPES = "bool uint8 int8 float8_e5m2 float8_e4m3fn int16 uint16 float16 bfloat16 int32 uint32 float32".split()
_DTYPES += ["complex64", "float64", "int64", "uint64"]
_NOT_OF_NUMPY = ("float8_e5m2", "float8_e4m3fn", "bfloat16")
_HEADER_MAX_NBYTES = 100_000_000
_ALIGNMENT = 64  # of the data, enough for any vector instruction
_Entry = tuple[str, str, tuple[int, ...], int, int]  # name, dtype, shape, offset in the file, nbytes
_MemoryOf = Callable[[list[_Entry]], Sequence[np.ndarray[Any, Any]]]


class SkippedWarning(UserWarning):
    """Tensors of a file were skipped, because no installed library has their dtype."""


def _expect_little_endian() -> None:
    if sys.byteorder != "little":
        raise FileError(".safetensors files are little-endian: unsupported on this host. Use .npy.")


def _header(file: BinaryIO) -> tuple[list[_Entry], dict[str, str]]:
    _expect_little_endian()
    start = file.read(8)
    start += file.read(min(int.from_bytes(start, "little"), _HEADER_MAX_NBYTES))
    return _byre.parse_safetensors_header(start, os.fstat(file.fileno()).st_size, file.name)


def metadata(file: BinaryIO) -> dict[str, str]:
    return _header(file)[1]


def _dtype_of(code: str) -> Any:
    """The dtype in NumPy, PyTorch or ml_dtypes; None if all of these lack it."""
    if code not in _CODES:
        return None
    name = _DTYPES[_CODES.index(code)]
    return _torch.dtype_to_load(name) if name in _NOT_OF_NUMPY else np.dtype(name)


def _tensors(name: str, entries: list[_Entry], memory_of: _MemoryOf) -> dict[str, Any]:
    dtypes = {code: _dtype_of(code) for code in {entry[1] for entry in entries}}
    entries = sorted(entries, key=lambda entry: entry[3])  # by offset
    taken = [entry for entry in entries if dtypes[entry[1]] is not None]
    skipped = [f'"{entry[0]}" ({entry[1]})' for entry in entries if dtypes[entry[1]] is None]
    if skipped:
        names = ", ".join(skipped[:10] + ["..."] * (len(skipped) > 10))
        text = (f'"{name}": skipped {len(skipped)} of {len(entries)} tensors with unsupported dtypes: {names}. '
                "For BF16, F8_E4M3 and F8_E5M2, install PyTorch (2.1 or newer for F8) or ml_dtypes.")
        if not taken:
            raise FileError(text)
        warnings.warn(text, SkippedWarning, stacklevel=5)
    tensors = {}
    for (tensor, code, shape, _, _), memory in zip(taken, memory_of(taken)):
        dtype = dtypes[code]
        is_numpy = isinstance(dtype, np.dtype)
        tensors[tensor] = memory.view(dtype).reshape(shape) if is_numpy else _torch.tensor_of(memory, dtype, shape)
    return tensors


def load(file: BinaryIO) -> dict[str, Any]:
    def memory_of(entries: list[_Entry]) -> list[np.ndarray[Any, Any]]:
        memories = _making.allocate([entry[4] for entry in entries])
        for (tensor, _, _, offset, nbytes), memory in zip(entries, memories):
            file.seek(offset)
            read_nbytes = file.readinto(memory)  # type: ignore[attr-defined]
            if read_nbytes != nbytes:
                raise FileError(f'"{file.name}": read {read_nbytes} of the {nbytes} bytes of tensor "{tensor}". Load '
                                "the file again while no other program changes it.")
        return memories

    return _tensors(file.name, _header(file)[0], memory_of)


def mmap(file: BinaryIO) -> dict[str, Any]:
    header, _ = _header(file)
    mapped = _leaves.mapped(file)

    def memory_of(entries: list[_Entry]) -> list[np.ndarray[Any, Any]]:
        memories = [mapped[offset : offset + nbytes] for _, _, _, offset, nbytes in entries]
        itemsizes = [nbytes // max(1, math.prod(shape)) for _, _, shape, _, nbytes in entries]
        misaligned = [number for number, entry in enumerate(entries) if entry[3] % max(1, itemsizes[number])]
        for number, memory in zip(misaligned, _making.allocate([entries[number][4] for number in misaligned])):
            memory[:] = memories[number]
            memories[number] = memory
        aligned = set(range(len(entries))) - set(misaligned)
        _byre.set_used(address_of(mapped), sum(entries[number][4] for number in aligned))
        return memories

    return _tensors(file.name, header, memory_of)


def plan(leaves: list[Leaf], metadata: dict[str, str] | None) -> tuple[int, Callable[[Write], object]]:
    """The size of a file, and the function that writes it."""
    _expect_little_endian()
    if metadata is not None and not isinstance(metadata, dict):
        raise ArgumentError(f"save: metadata is of type {type(metadata).__name__}. Pass a dict of str to str.")
    for part in [part for pair in (metadata or {}).items() for part in pair]:
        if not isinstance(part, str):
            raise ArgumentError(f"save: metadata has {part!r} of type {type(part).__name__}. Pass a str.")
    ranks = {}
    for leaf in leaves:
        name = leaf.value.dtype.name if isinstance(leaf.value, np.ndarray) else str(leaf.value.dtype)[len("torch.") :]
        if name not in _DTYPES:
            raise ArgumentError(f"save: the {leaf.title} has dtype {name}, which .safetensors lacks. Convert it to one "
                                f"of {', '.join(_DTYPES)}.")
        if leaf.name == "__metadata__":
            raise ArgumentError('save: the name "__metadata__" is reserved for metadata. Rename the tensor.')
        ranks[leaf.name] = _DTYPES.index(name)
    leaves = sorted(leaves, key=lambda leaf: (-ranks[leaf.name], leaf.name))
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    end = 0
    for leaf in leaves:
        begin, end = end, end + leaf.nbytes
        shape = list(leaf.value.shape)
        header[leaf.name] = {"dtype": _CODES[ranks[leaf.name]], "shape": shape, "data_offsets": [begin, end]}
    try:
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"save: a name or metadata is not valid Unicode: {error}. Rename it.") from None
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    if len(text) > _HEADER_MAX_NBYTES:
        raise ArgumentError(f"save: the header has {len(text)} bytes; .safetensors allows {_HEADER_MAX_NBYTES}. Save "
                            "fewer tensors or less metadata per file.")

    def write_all(write: Write) -> None:
        write(len(text).to_bytes(8, "little") + text)
        for leaf in leaves:  # contiguous memory is written without a copy
            x = leaf.value
            is_numpy = isinstance(x, np.ndarray)
            x = np.ascontiguousarray(x, x.dtype.newbyteorder("<")) if is_numpy else _torch.resolved(x).contiguous()
            write(bytes_at(layout_of(x)[0], leaf.nbytes, x))

    return 8 + len(text) + end, write_all
