# SPDX-License-Identifier: BSL-1.0
from byre import _byre


class no_copies:
    """A block in which hidden copies are refused.

    Within it byre.CopyRefused is raised, before anything changed, instead of a copy that nobody asked for by name: by a
    write to data that a lazy copy shares, or that is read-only; by a lazy copy of memory that others may write; by a
    reshape that strides cannot say. Writes to large arrays in pages, which copy the pages that they touch, are allowed,
    and so is what makes new arrays by its nature: byre.array(...), astype, arithmetic. It holds for the thread, or the
    task of asyncio, that entered it. Blocks nest.

    >>> x = byre.zeros(3)
    >>> with byre.no_copies():
    ...     x[0] = 1
    >>> y = x.copy()
    >>> with byre.no_copies():
    ...     x[0] = 2
    Traceback (most recent call last):
        ...
    byre.CopyRefused: a write would copy 24 bytes, which other owners share, ...
    """

    def __init__(self):
        self._tokens = []

    def __enter__(self):
        self._tokens.append(_byre._copies_are_refused.set(True))
        return self

    def __exit__(self, *_):
        if not self._tokens:
            raise _byre.InvalidArgument("no_copies: the end of a block that never began. Write `with byre.no_copies():`.")
        # Fails on another thread than the one that began it, which has to end it.
        _byre._copies_are_refused.reset(self._tokens[-1])
        self._tokens.pop()


no_copies.__module__ = "byre"
