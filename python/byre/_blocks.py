# SPDX-License-Identifier: BSL-1.0
"""Blocks of pages: which copies of them are lazy, why, and what they share."""
from __future__ import annotations

import contextlib
import contextvars
import threading
from typing import Any, NamedTuple

import numpy as np
from byre import _byre

SMALL_NBYTES = 64 << 10  # blocks below this size are copied faster than they are mapped
_COPIES_UNTIL_COLLAPSE = 4
copies_are_refused: contextvars.ContextVar[bool] = contextvars.ContextVar("byre.copies_are_refused", default=False)


def _number_in(path: str, key: str = "") -> int | None:
    """The number behind `key` in a file of the system."""
    try:
        with open(path) as file:
            words = file.read().split()
        return int(words[words.index(key) + 1 if key else 0])
    except (OSError, ValueError, IndexError):
        return None


def available_nbytes() -> float:
    """Bytes that the process may still use: of the machine, or of its control group if that has fewer."""
    kib = _number_in("/proc/meminfo", "MemAvailable:")
    limit, used = _number_in("/sys/fs/cgroup/memory.max"), _number_in("/sys/fs/cgroup/memory.current")
    numbers = [kib << 10] if kib is not None else []
    numbers += [limit - used] if limit is not None and used is not None else []
    return min(numbers, default=float("inf"))


def _why_at_once(facts: dict[str, Any], seen_nbytes: int, changes: tuple[int, int], is_asked: bool) -> str:
    """The reason for a copy at once; empty for a lazy copy. A copy that is asked to be lazy may cost more."""
    nbytes, (changed, samples) = facts["nbytes"], changes
    if not facts["is_in_pages"]:
        return "the system had no pages for the block"
    if seen_nbytes * 2 < nbytes:
        return f"these are less than half of a block of {nbytes} bytes, which a lazy copy would keep"
    if is_asked:
        return ""
    if nbytes < SMALL_NBYTES:
        return f"blocks below {SMALL_NBYTES} bytes are copied faster than they are mapped; lazy=True copies lazily"
    if changed * 10 > samples and available_nbytes() >= 2 * nbytes:
        return (
            f"{changed} of {samples} sampled pages were written since the last copy, and lazy copies pay up to a tenth; "
            "lazy=True copies lazily"
        )
    return ""


def why_at_once(start: int, seen_nbytes: int, is_asked: bool) -> str:
    return _why_at_once(_byre.facts(start), seen_nbytes, _byre.changes(start, False), is_asked)


def copy_block(
    start: int, seen_nbytes: int, is_asked: bool, like: np.ndarray | None, file: str, line: int
) -> np.ndarray | None:
    """A lazy copy of a block, or None if it is to be copied at once. A copy that is asked to be lazy raises instead."""
    facts = _byre.facts(start)
    reason = _why_at_once(facts, seen_nbytes, (0, 0), True)
    if not reason:  # a copy of a small part says nothing of the block
        reason = _why_at_once(facts, seen_nbytes, _byre.changes(start, True), is_asked)
    found = None if reason else _byre.clone(start, like, file, line)
    if found is None:
        if is_asked:
            reason = reason or "the system has no mapping for a lazy copy; raise vm.max_map_count or drop some copies"
            raise _byre.CopyRefused(
                f"copy: cannot copy {seen_nbytes} bytes lazily: {reason}. To allow a copy at once, pass lazy=None outside "
                "of byre.no_copies()."
            )
        return None
    copy, copies = found
    if copies == _COPIES_UNTIL_COLLAPSE and facts["nbytes"] >= 2 << 20:
        with contextlib.suppress(RuntimeError):  # no thread can be started
            threading.Thread(target=_byre.collapse, args=(start,), name="byre.collapse", daemon=True).start()
    return copy


def explain(start: int, address: int, nbytes: int) -> str:
    facts = _byre.facts(start)
    text = f"{nbytes} bytes at {address:#x}, in a block of {facts['nbytes']} bytes"
    if facts["others"]:
        lines = f" (copied at {', '.join(facts['lines'])})" if facts["lines"] else ""
        blocks = "1 block" if facts["others"] == 1 else f"{facts['others']} blocks"
        text += f", of which {facts['own_nbytes']} are in pages of its own and the rest is shared with {blocks}{lines}"
    reason = why_at_once(start, nbytes, False)
    if reason:
        return f"{text}: byre.copy copies at once, since {reason}."
    return f"{text}{', in huge pages' if facts['is_collapsed'] else ''}: byre.copy is lazy."


class Stats(NamedTuple):
    """What byre counted of all threads. The difference of two is what happened between.

    >>> (byre.stats() - byre.stats()).copies
    0
    """

    lazy_copies: int
    copies: int  # made at once, and lazy ones for which written pages were copied
    bytes_copied: int  # of those
    live_bytes: int  # in files of pages
    pinned_bytes: int  # of those, in files that only lazy copies and their sources show

    def __sub__(self, before: Stats) -> Stats:
        return Stats(*(now - then for now, then in zip(self, before)))


def stats() -> Stats:
    """What byre counted until now: zeros if byre was built without statistics.

    >>> x = byre.zeros(1 << 20)
    >>> before = byre.stats()
    >>> y = byre.copy(x)
    >>> (byre.stats() - before).bytes_copied
    0
    """
    return Stats(**_byre.counters())


class Memory(NamedTuple):
    """Bytes of blocks, each of which has one array or several.

    >>> byre.memory().blocks >= 0
    True
    """

    blocks: int
    nbytes: int
    own_nbytes: int  # in pages that one block shows
    shared_nbytes: int  # in pages that several blocks show, counted for each


def memory() -> Memory:
    """What the arrays in pages take, and what they share.

    >>> x = byre.zeros(1 << 20)
    >>> y = byre.copy(x)
    >>> byre.memory().shared_nbytes >= x.nbytes
    True
    """
    blocks = _byre.all_facts()
    nbytes, own_nbytes = (sum(facts[name] for facts in blocks) for name in ("nbytes", "own_nbytes"))
    return Memory(len(blocks), nbytes, own_nbytes, nbytes - own_nbytes)
