# SPDX-License-Identifier: BSL-1.0
"""Which part of a program holds the memory of byre, and the idle memory of its pool."""
from __future__ import annotations

import contextlib
import threading
from typing import Iterator

from byre import _byre
from byre._errors import ArgumentError, Error, checked_nbytes


class _Scopes(threading.local):
    """The scopes of a thread, the innermost last, and whether their blocks have ended."""

    def __init__(self) -> None:
        self.begun: dict[int, bool] = {}


_scopes = _Scopes()


@contextlib.contextmanager
def tag(name: str) -> Iterator[None]:
    """Gives the memory that this thread allocates within a `with` block a name in byre.memory().report.

    Arrays that byre makes within the block have the tag `name`. Copies have the tag of their source. Blocks nest, and the
    innermost one counts. Do not `await` or `yield` within a block: the code that runs meanwhile on the thread would
    allocate with the tag. Raises ArgumentError if `name` is not a string or is empty, and byre.Error if the block ends
    on another thread or before a block that began later, unless the block raised an exception. byre stores each name
    for good.

    >>> with byre.tag("weights"):
    ...     x = byre.zeros(1 << 20)
    >>> [entry["total"] for entry in byre.memory().report["tags"] if entry["name"] == "weights"]
    [8388608]
    """
    if not isinstance(name, str):
        raise ArgumentError(f"tag: the name is {name!r}. Pass a string.")
    scope, begun = _byre.begin_tag(name), _scopes.begun
    begun[scope] = False
    is_done = False
    try:
        yield
        is_done = True
    finally:
        begun[scope] = True
        is_on_its_thread = begun is _scopes.begun
        # A C++ scope must end on its thread, after the scopes within it. If it cannot end now, a later block ends it.
        while is_on_its_thread and begun and begun[next(reversed(begun))]:
            _byre.end_tag(begun.popitem()[0])
        if scope in begun and is_done:  # otherwise, the error would hide the block's exception
            raise Error(f"tag: the block of tag {name!r} ended "
                        f"{'before a block that began later' if is_on_its_thread else 'on another thread'}. "
                        "Do not await or yield within a block.")


def memory_summary() -> str:
    """The report of byre.memory() as a text. Raises ArgumentError if byre was built without statistics.

    >>> print(byre.memory_summary())
    byre: memory: ... bytes: ... allocated, ... paged, ... written in overlays, ...
    """
    return _byre.memory_text()


def trim(keep_nbytes: int = 0) -> None:
    """Returns idle memory of the pool to the system until at most `keep_nbytes` bytes are idle.

    The pool keeps released blocks of at least 64 KiB that are not in pages, to use them again. Raises ArgumentError if
    `keep_nbytes` is negative or not an integer.

    >>> byre.trim()
    >>> byre.memory().report["idle"]
    0
    """
    _byre.trim(checked_nbytes("trim", "keep_nbytes", keep_nbytes))


def get_pool_limit() -> int:
    """The largest number of idle bytes that the pool keeps; at first an eighth of the memory, at most 4 GiB.

    >>> byre.get_pool_limit() > 0
    True
    """
    return _byre.get_pool_limit()


def set_pool_limit(nbytes: int) -> None:
    """Sets the largest number of idle bytes that the pool keeps, and returns the idle memory beyond it to the system.

    With 0, the pool keeps no memory. Raises ArgumentError if `nbytes` is negative or not an integer.

    >>> limit = byre.get_pool_limit()
    >>> byre.set_pool_limit(1 << 20)
    >>> byre.get_pool_limit()
    1048576
    >>> byre.set_pool_limit(limit)
    """
    _byre.set_pool_limit(checked_nbytes("set_pool_limit", "nbytes", nbytes))
