# SPDX-License-Identifier: BSL-1.0
"""A place that threads set and get."""
from __future__ import annotations

import sys
from typing import Generic, TypeVar

from byre import _copying, _leaves, _torch
from byre._blocks import SMALL_NBYTES
from byre._making import to_pages

_Tree = TypeVar("_Tree")


class Shared(Generic[_Tree]):
    """A place for an array, a tensor, or a tree of these: some threads set its content, and others get copies of it.

    Any threads may call get() and set() at once, without a lock. get() returns a copy of what one call of set() put
    there, never a mixture of two. set() stores a copy, so later writes to its argument do not show. The contents may
    differ in type, dtype and shape. get() does not wait for a set() that copies, nor set() for a get(). A concurrent
    write to the argument of set() is a data race, as for byre.copy().

    A content of at least 64 KiB is stored in pages, so each get() copies lazily. A smaller one is copied immediately.
    set() copies lazily what byre.copy() copies lazily; an array in ordinary memory is copied, and then moved to pages.

    >>> weights = byre.zeros((1000, 1000))
    >>> published = byre.Shared(weights)
    >>> weights[0, 0] = 1
    >>> snapshot = published.get()
    >>> published.set(weights)
    >>> print(snapshot[0, 0], published.get()[0, 0])
    0.0 1.0
    """

    # Replaced as a whole, and never written or given away. Python reads and rebinds an attribute in one step, with and
    # without the interpreter's lock. An AtomicBuffer could not hold it: a copy of pages is a mapping with an address of
    # its own, which the array that owns it describes.
    __slots__ = ("_content", "__weakref__")
    _content: _Tree

    def __init__(self, x: _Tree) -> None:
        self._content = _content_of(x, "Shared", _copying.place_of(sys._getframe().f_back))

    def get(self) -> _Tree:
        """A copy of the content, as by byre.copy(). Raises what byre.copy() raises, except ArgumentError."""
        return _copying.copied(self._content, None, _copying.place_of(sys._getframe().f_back))

    def set(self, x: _Tree) -> None:
        """Replaces the content by a copy of x. Raises what byre.copy() raises; the content is unchanged then."""
        self._content = _content_of(x, "Shared.set", _copying.place_of(sys._getframe().f_back))


def _content_of(x: _Tree, operation: str, where: tuple[bytes, int]) -> _Tree:
    leaves, _ = _leaves.walk(x, operation)
    for leaf in leaves:
        _torch.expect_usable(leaf, operation)
    content = _copying.copied(x, None, where)
    return to_pages(content) if sum(leaf.nbytes for leaf in leaves) >= SMALL_NBYTES else content


Shared.__module__ = "byre"
