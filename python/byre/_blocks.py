# SPDX-License-Identifier: BSL-1.0
"""Blocks of pages: which copies of them are lazy and why, and the memory that blocks share."""
from __future__ import annotations

import collections
import contextlib
import contextvars
import functools
import json
import os
import sys
import threading
from typing import Any, Iterator, NamedTuple

import numpy as np
from byre import _byre, _leaves
from byre._errors import CopyRefused, checked_nbytes

SMALL_NBYTES = 64 << 10  # blocks below this size are copied faster than they are mapped
_COPIES_UNTIL_COLLAPSE = 4
_HUGE_PAGE_NBYTES = 2 << 20
_MOST_SAMPLES, _PAGE_NBYTES = 64, 4096
_FACTORS = np.random.default_rng(0).integers(1 << 64, size=_PAGE_NBYTES // 8, dtype=np.uint64) | np.uint64(1)
_NO_MAPPING = ("the system has no mapping or memory for it, or byre has as many blocks as a quarter of "
               "vm.max_map_count; drop some copies")
ALLOW_COPIES = "To allow an immediate copy, pass lazy=None outside of byre.no_copies()."
_Array = np.ndarray[Any, Any]
copies_are_refused: contextvars.ContextVar[bool] = contextvars.ContextVar("byre.copies_are_refused", default=False)
_handler = functools.lru_cache(maxsize=None)(_byre.handler)


@contextlib.contextmanager
def pages(min_nbytes: int = SMALL_NBYTES) -> Iterator[None]:
    """Makes NumPy itself allocate arrays of at least `min_nbytes` bytes from pages within a `with` block.

    The setting holds for the thread or the asyncio task that entered the block; blocks nest. It applies to all
    libraries that allocate arrays through NumPy. Raises ArgumentError if `min_nbytes` is negative or not an integer.

    >>> with byre.pages():
    ...     grid = np.ones((1000, 1000))
    >>> byre.is_lazy(grid) and byre.is_lazy(byre.ones((1000, 1000)))
    True
    """
    before = _byre.set_handler(_handler(checked_nbytes("pages", "min_nbytes", min_nbytes)))
    try:
        yield
    finally:
        _byre.set_handler(before)


class _Scratch(threading.local):
    """A thread's memory for sampled pages. Allocating it each time would take five times as long as the sampling."""

    @pages(min_nbytes=sys.maxsize)
    def __init__(self) -> None:
        self.words, self.high = np.empty((2, _MOST_SAMPLES, _PAGE_NBYTES // 8), np.uint64)


_scratch = _Scratch()


@functools.lru_cache
@pages(min_nbytes=sys.maxsize)
def _sampled(count: int) -> _Array:
    """A random page of each of up to 64 equal parts, to sample. Fixed distances could match a pattern of writes."""
    bounds = np.linspace(0, count, min(count, _MOST_SAMPLES) + 1, dtype=int)
    return np.random.default_rng(0).integers(bounds[:-1], bounds[1:])


@pages(min_nbytes=sys.maxsize)
def _sums(facts: dict[str, Any]) -> bytes:
    """A hash of each sampled page; empty for small blocks. A page rewritten with equal bytes counts as unchanged."""
    if facts["nbytes"] < SMALL_NBYTES:
        return b""
    count = facts["nbytes"] // _PAGE_NBYTES
    data = _leaves.bytes_at(facts["start"], count * _PAGE_NBYTES, None).view(np.uint64).reshape(count, -1)
    sampled = _sampled(count)
    words, high = _scratch.words[: len(sampled)], _scratch.high[: len(sampled)]
    np.take(data, sampled, axis=0, out=words, mode="clip")
    words ^= np.right_shift(words, np.uint64(32), out=high)  # so that the high bits affect the product
    return bytes(np.einsum("ij,j->i", words, _FACTORS).data)


def _number_in(path: str, key: str = "") -> int | None:
    """The number after `key` in a file of the system, or None."""
    try:
        with open(path) as file:
            words = file.read().split()
        return int(words[words.index(key) + 1 if key else 0])
    except (OSError, ValueError, IndexError):
        return None


def available_nbytes() -> float:
    """Bytes that the process may still use: available in the machine, or in its control group if that has fewer."""
    kib = _number_in("/proc/meminfo", "MemAvailable:")
    limit, used = _number_in("/sys/fs/cgroup/memory.max"), _number_in("/sys/fs/cgroup/memory.current")
    numbers = [kib << 10] if kib is not None else []
    numbers += [limit - used] if limit is not None and used is not None else []
    return min(numbers, default=float("inf"))


def why_at_once(facts: dict[str, Any], seen_nbytes: int, dense_nbytes: int, must_be_lazy: bool,
                sums: bytes = b"") -> str:
    """Why a block is copied immediately; empty if it is copied lazily. `must_be_lazy` allows slow lazy copies."""
    nbytes = facts["nbytes"]
    if not facts["is_in_pages"]:
        return "the system had no pages for the block"
    if seen_nbytes * 2 < nbytes:
        return f"they are less than half of a block of {nbytes} bytes, which a lazy copy would keep alive"
    if dense_nbytes < facts["used_nbytes"] and _byre.written_nbytes(facts["start"]) * 8 > nbytes:
        return "they are a part of a block, and more than an eighth of it was written; copy the whole block"
    if must_be_lazy:
        return ""
    if nbytes < SMALL_NBYTES:
        return f"blocks below {SMALL_NBYTES} bytes are copied faster than they are mapped; lazy=True copies lazily"
    if facts["sums"]:
        pairs = np.frombuffer(facts["sums"] + (sums or _sums(facts)), np.uint64).reshape(2, -1)
        changed, samples = np.count_nonzero(pairs[0] != pairs[1]), pairs.shape[1]
        if changed * 10 > samples and available_nbytes() >= 2 * nbytes:
            return (f"{changed} of {samples} sampled pages were written since the last copy, allowed is a tenth; "
                    "lazy=True copies lazily")
    return ""


def copy_block(start: int, seen_nbytes: int, dense_nbytes: int, must_be_lazy: bool, like: _Array | None,
               *where: Any) -> _Array | None:
    """A lazy copy of a block, or None if the block must be copied immediately. Raises CopyRefused if it must be lazy.

    Meanwhile other threads may write arrays of the block that are not copied, unless `dense_nbytes` covers all arrays.
    """
    facts = _byre.facts(start)
    sums = _sums(facts) if seen_nbytes * 2 >= facts["nbytes"] else b""  # a small part is not representative
    reason = why_at_once(facts, seen_nbytes, dense_nbytes, must_be_lazy, sums)
    if sums:
        _byre.set_sums(start, sums)
    copy = None if reason else _byre.clone(start, like, dense_nbytes >= facts["used_nbytes"], *where)
    if copy is None:
        if must_be_lazy:
            reason = reason or _NO_MAPPING
            raise CopyRefused(f"copy: cannot copy {seen_nbytes} bytes lazily: {reason}. {ALLOW_COPIES}")
    elif facts["lazy_copies"] + 1 == _COPIES_UNTIL_COLLAPSE and facts["nbytes"] >= _HUGE_PAGE_NBYTES:
        with contextlib.suppress(RuntimeError):  # the system cannot start a thread
            threading.Thread(target=_byre.collapse, args=(start,), name="byre.collapse", daemon=True).start()
    return copy


def explain(start: int, address: int, nbytes: int, dense_nbytes: int) -> str:
    facts = _byre.facts(start)
    text = f"{nbytes} bytes at {address:#x}, in a block of {facts['nbytes']} bytes"
    others = [x for x in _byre.all_facts() if x["memory_id"] == facts["memory_id"] and x["start"] != start]
    if others:
        lines = collections.Counter(os.fsdecode(x["copied_at"]) for x in others if x["copied_at"])
        blocks = "1 block" if len(others) == 1 else f"{len(others)} blocks"
        text += f"; {_byre.written_nbytes(start)} are in pages of its own, and the rest is shared with {blocks}"
        places = ", ".join(f"{line} ({count} times)" if count > 1 else line for line, count in sorted(lines.items()))
        text += f" (copied at {places})" if lines else ""
    reason = why_at_once(facts, nbytes, dense_nbytes, False)
    if reason:
        return f"{text}: byre.copy copies immediately, since {reason}."
    return f"{text}{', in huge pages' if facts['is_collapsed'] else ''}: byre.copy is lazy."


class Stats(NamedTuple):
    """Counts of all threads. The difference of two Stats counts the operations between them."""

    lazy_copies: int
    copies: int  # copies made immediately, and lazy copies for which written pages were copied
    bytes_copied: int  # by these copies
    live_bytes: int  # in page files
    pinned_bytes: int  # those of live_bytes in files that only lazy copies and their sources map

    def __sub__(self, before: Stats) -> Stats:
        return Stats(*(now - then for now, then in zip(self, before)))


def stats() -> Stats:
    """The counts so far; zeros if byre was built without statistics. Any thread may call this function.

    >>> x = byre.zeros(1 << 20)
    >>> before = byre.stats()
    >>> y = byre.copy(x)
    >>> (byre.stats() - before).bytes_copied
    0
    """
    return Stats(*_byre.counters())


class Memory(NamedTuple):
    """The blocks that exist, their bytes, and the bytes that byre holds. A block is the memory of one array or of several
    arrays."""

    blocks: int
    nbytes: int
    own_nbytes: int  # in pages of one block only
    shared_nbytes: int  # in pages of several blocks, counted once for each block
    report: dict[str, Any]  # by origin and by tag, each shared byte once


def memory() -> Memory:
    """The memory of the arrays in pages, how much of it they share, and which part of the program holds byre's memory.
    Any thread may call this function.

    In the dict `report`, the sums "allocated", "paged", "overlay" (pages that were written after a copy), "adopted" and
    "mapped" are those of all data, each shared byte once. "tags" has them for each tag of byre.tag(), the largest first.
    "idle" and "overhead" belong to the pool; "total" contains them, but not "on_devices". "shared" lists tagged data
    with several owners, and data from which a write has moved to a copy ("left_by_writers"). "pinned" is the part of
    "paged" that only copies use. The dict is empty if byre was built without statistics.

    >>> x = byre.zeros(1 << 20)
    >>> y = byre.copy(x)
    >>> byre.memory().shared_nbytes >= x.nbytes
    True
    >>> report = byre.memory().report
    >>> report["total"] == sum(report[key] for key in "allocated paged overlay adopted mapped idle overhead".split())
    True
    """
    blocks = _byre.all_facts()
    shows = collections.Counter(facts["memory_id"] for facts in blocks)
    nbytes = shared_nbytes = 0
    for facts in blocks:
        nbytes += facts["nbytes"]
        if shows[facts["memory_id"]] > 1:
            shared_nbytes += facts["nbytes"] - _byre.written_nbytes(facts["start"])
    return Memory(len(blocks), nbytes, nbytes - shared_nbytes, shared_nbytes, json.loads(_byre.memory_json()))
