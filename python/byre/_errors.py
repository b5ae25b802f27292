# SPDX-License-Identifier: BSL-1.0
"""The errors that byre raises."""


class Error(Exception):
    """Base of every error that byre raises."""


class ArgumentError(Error, ValueError, TypeError):
    """An argument of the wrong kind, or one that is out of range."""


class CopyRefused(Error, RuntimeError):
    """A copy that lazy=True or byre.no_copies() refuses."""


class FileError(Error, OSError, ValueError):
    """A file that is unreadable, or is not what it claims to be."""


class MissingFile(FileError, FileNotFoundError):
    """A file that does not exist."""


class OutOfMemory(Error, MemoryError):
    """The system has no memory for this. Nothing has changed."""


for _error in (Error, ArgumentError, CopyRefused, FileError, MissingFile, OutOfMemory):
    _error.__module__ = "byre"
