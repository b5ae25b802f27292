# SPDX-License-Identifier: BSL-1.0
"""The errors that byre raises."""


class Error(Exception):
    """Base of every error that byre raises.

    >>> issubclass(byre.CopyRefused, byre.Error)
    True
    """


class ArgumentError(Error, ValueError, TypeError):
    """An argument of the wrong kind, or one that is out of range.

    >>> issubclass(byre.ArgumentError, TypeError)
    True
    """


class CopyRefused(Error, RuntimeError):
    """A copy that lazy=True or byre.no_copies() refuses.

    >>> issubclass(byre.CopyRefused, RuntimeError)
    True
    """


class FileError(Error, OSError, ValueError):
    """A file that is unreadable, or is not what it claims to be.

    >>> issubclass(byre.FileError, OSError) and issubclass(byre.FileError, ValueError)
    True
    """


class MissingFile(FileError, FileNotFoundError):
    """A file that does not exist.

    >>> try:
    ...     byre.load("no such file.npy")
    ... except FileNotFoundError as error:
    ...     isinstance(error, byre.MissingFile)
    True
    """


class OutOfMemory(Error, MemoryError):
    """The system has no memory for this. Nothing has changed.

    >>> issubclass(byre.OutOfMemory, MemoryError)
    True
    """


for _error in (Error, ArgumentError, CopyRefused, FileError, MissingFile, OutOfMemory):
    _error.__module__ = "byre"
