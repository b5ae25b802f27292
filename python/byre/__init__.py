# SPDX-License-Identifier: BSL-1.0
"""Lazy copies of ordinary NumPy arrays and PyTorch tensors: source and copy are writable, and writes copy by the page.

>>> import byre
>>> weights = byre.zeros((1000, 1000))
>>> snapshot = byre.copy(weights)
>>> weights[0, 0] = 1
>>> print(type(snapshot), snapshot[0, 0], weights[0, 0])
<class 'numpy.ndarray'> 0.0 1.0
"""
from byre import _interpreter  # noqa: F401  first: it rejects subinterpreters
from byre._blocks import Memory, Stats, memory, pages, stats
from byre._connection import Connection, Pipe
from byre._errors import ArgumentError, ConnectionEnded, CopyRefused, Error, FileError, MissingFile, OutOfMemory
from byre._errors import TransferError
from byre._copying import copy, explain, is_lazy, no_copies
from byre._files import load, metadata, mmap, save, save_async
from byre._making import array, empty, full, ones, to_pages, zeros
from byre._memory import get_pool_limit, memory_summary, set_pool_limit, tag, trim
from byre._reductions import ExportedViews, collect
from byre._safetensors import SkippedWarning
from byre._shared import Shared

__all__ = ["ArgumentError", "Connection", "ConnectionEnded", "CopyRefused", "Error", "ExportedViews", "FileError"]
__all__ += ["Memory", "MissingFile", "OutOfMemory", "Pipe", "Shared", "SkippedWarning", "Stats", "TransferError"]
__all__ += ["array", "collect", "copy", "empty", "explain", "full", "get_pool_limit", "is_lazy", "load", "memory"]
__all__ += ["memory_summary", "metadata", "mmap", "no_copies", "ones", "pages", "save", "save_async", "set_pool_limit"]
__all__ += ["stats", "tag", "to_pages", "trim", "zeros"]
