# SPDX-License-Identifier: BSL-1.0
"""The errors that byre raises."""
from __future__ import annotations

import sys

import numpy as np


class Error(Exception):
    """The base class of every error that byre raises."""


class ArgumentError(Error, ValueError, TypeError):
    """An argument has the wrong type or value."""


class CopyRefused(Error, RuntimeError):
    """A copy cannot be lazy, and lazy=True or byre.no_copies() forbids an immediate copy."""


class FileError(Error, OSError, ValueError):
    """A file is unreadable or malformed."""


class MissingFile(FileError, FileNotFoundError):
    """A file does not exist."""


class TransferError(Error, RuntimeError):
    """Arrays cannot be sent to, or received from, another process."""


class ConnectionEnded(TransferError, EOFError):
    """The other side of a connection has closed it, and sent nothing that was not received."""


class OutOfMemory(Error, MemoryError):
    """The system has not enough memory for the operation. Nothing has changed."""


for _error in (Error, ArgumentError, ConnectionEnded, CopyRefused, FileError, MissingFile, OutOfMemory, TransferError):
    _error.__module__ = "byre"


def checked_nbytes(call: str, name: str, nbytes: int) -> int:
    if not isinstance(nbytes, (int, np.integer)) or nbytes < 0:
        raise ArgumentError(f"{call}: {name} is {nbytes!r}. Pass a whole number of bytes of at least 0.")
    return min(int(nbytes), sys.maxsize)
