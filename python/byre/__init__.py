# SPDX-License-Identifier: BSL-1.0
"""Copy-on-write arrays: a copy of any size costs less than a microsecond, until one of the two is written.

>>> import byre
>>> weights = byre.zeros((1000, 1000), dtype="float32")
>>> before = byre.stats()
>>> snapshot = weights.copy()
>>> weights[0, 0] = 1
>>> snapshot[0, 0], weights[0, 0]
(0.0, 1.0)
>>> (byre.stats() - before).copies
1
"""
from byre import _byre, _ufuncs
from byre._byre import (
    Array,
    BFloat16Type,
    CopyRefused,
    DTypeError,
    DeviceError,
    Error,
    FileError,
    IndexingError,
    InvalidArgument,
    MissingFile,
    NotABuffer,
    NotUnique,
    OperandError,
    OutOfMemory,
    ReshapeViolation,
    ShapeError,
    StateError,
    Stats,
    array,
    bfloat16,
    bool_,
    broadcast_to,
    complex64,
    concatenate,
    copy,
    empty,
    exp,
    explain,
    flip,
    float16,
    float32,
    float64,
    from_dlpack,
    from_numpy,
    full,
    int16,
    int32,
    int64,
    int8,
    load,
    matmul,
    metadata,
    mmap,
    relu,
    save,
    skipped,
    stats,
    sum,
    uint8,
    where,
    zeros,
)
from byre._no_copies import no_copies

Array.__array_ufunc__ = _ufuncs.array_ufunc

__all__ = [
    "Array",
    "BFloat16Type",
    "CopyRefused",
    "DTypeError",
    "DeviceError",
    "Error",
    "FileError",
    "IndexingError",
    "InvalidArgument",
    "MissingFile",
    "NotABuffer",
    "NotUnique",
    "OperandError",
    "OutOfMemory",
    "ReshapeViolation",
    "ShapeError",
    "StateError",
    "Stats",
    "array",
    "bfloat16",
    "bool_",
    "broadcast_to",
    "complex64",
    "concatenate",
    "copy",
    "empty",
    "exp",
    "explain",
    "flip",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "from_numpy",
    "full",
    "int16",
    "int32",
    "int64",
    "int8",
    "load",
    "matmul",
    "metadata",
    "mmap",
    "no_copies",
    "relu",
    "save",
    "skipped",
    "stats",
    "sum",
    "uint8",
    "where",
    "zeros",
]


def _unpickled(data, shape, dtype):
    # A function of Python, as pickles name no other: what a pickle of an array calls.
    return _byre._unpickled(data, shape, dtype)
