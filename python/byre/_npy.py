# SPDX-License-Identifier: BSL-1.0
"""The .npy format, by the public functions of numpy.lib.format."""
from __future__ import annotations

import io
import math
import os
import types
from typing import Any, BinaryIO, Callable

import numpy as np
from byre import _blocks, _byre, _leaves, _torch
from byre._errors import ArgumentError, FileError

_format: Any = np.lib.format
Write = Callable[..., object]


def _header(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]] | None:
    """Shape, order and dtype of the array in a complete file; None if NumPy has no public reader of the version."""
    readers = {(1, 0): _format.read_array_header_1_0, (2, 0): _format.read_array_header_2_0}
    reader = readers.get(_format.read_magic(file))
    if reader is None:
        return None
    shape, is_fortran, dtype = reader(file)
    expected, present = math.prod(shape) * dtype.itemsize, os.fstat(file.fileno()).st_size - file.tell()
    if min(shape, default=0) < 0:
        raise FileError(f'"{file.name}": the shape {shape} has a negative size. Save the file again.')
    if dtype.hasobject:
        raise FileError(f'"{file.name}": its dtype {dtype} holds Python objects; byre reads no pickles. Save numbers.')
    if expected > present:
        raise FileError(f'"{file.name}": {expected} bytes of data expected, {present} found. Save the file again.')
    return shape, is_fortran, dtype


def load(file: BinaryIO) -> np.ndarray[Any, Any]:
    _header(file)
    file.seek(0)
    with _blocks.pages():
        array: np.ndarray[Any, Any] = _format.read_array(file, allow_pickle=False)
    return array


def mmap(file: BinaryIO) -> np.ndarray[Any, Any]:
    header = _header(file)
    if header is None or not header[2].itemsize or file.tell() % header[2].alignment:
        file.seek(0)
        return load(file)
    shape, is_fortran, dtype = header
    mapped = _leaves.mapped(file)
    data = mapped[file.tell() :][: math.prod(shape) * dtype.itemsize]
    _byre.set_used(_leaves.address_of(mapped), len(data))
    return data.view(dtype).reshape(shape, order="F" if is_fortran else "C")


def _is_savable(dtype: np.dtype[Any]) -> bool:
    try:
        return not dtype.hasobject and bool(_format.descr_to_dtype(_format.dtype_to_descr(dtype)) == dtype)
    except ValueError:  # fields overlap or are not in order
        return False


def plan(leaves: list[_leaves.Leaf]) -> tuple[int, Callable[[Write], object]]:
    """The size of the data, and the function that writes a file of one leaf."""
    (leaf,) = leaves
    array = leaf.value if isinstance(leaf.value, np.ndarray) else _torch.array_of(leaf.value)
    if array is None or not _is_savable(array.dtype):
        raise ArgumentError(f"save: the {leaf.title} has dtype {leaf.value.dtype}, which .npy lacks. Convert it; "
                            ".safetensors has bfloat16.")
    return array.nbytes, lambda write: _write(write, array)


def _write(write: Write, array: np.ndarray[Any, Any]) -> None:
    header = io.BytesIO()
    try:
        _format.write_array_header_1_0(header, _format.header_data_from_array_1_0(array))
    except ValueError:  # names or number of fields need a later version, which has no public writer
        _format.write_array(types.SimpleNamespace(write=write), array, allow_pickle=False)
        return
    write(header.getvalue())
    array = array.T if array.flags.f_contiguous else np.ascontiguousarray(array)
    write(_leaves.bytes_at(_leaves.address_of(array), array.nbytes, array))
