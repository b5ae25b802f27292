# SPDX-License-Identifier: BSL-1.0
"""How multiprocessing sends arrays and tensors in pages: as lazy copies in the other process.

A pickle contains a block once, however many arrays it has. The descriptor of the block's pages waits in a socket, and
the pickle refers to that socket. A child that is being started inherits the socket; any other process gets it from
multiprocessing.resource_sharer.
"""
from __future__ import annotations

import multiprocessing
import select
import socket
import sys
import threading
import weakref
from multiprocessing import context, reduction, util
from typing import Any, Callable

import numpy as np
from byre import _blocks, _byre, _copying, _leaves, _torch
from byre._errors import TransferError

LEAST_NBYTES = 1 << 20  # smaller blocks are pickled faster than a process fetches a descriptor
_MOST_INHERITED = 200  # multiprocessing's fork server passes at most 256 descriptors to a child
_Array = np.ndarray[Any, Any]
_Reduced = tuple[Callable[..., Any], tuple[Any, ...]]


class Block:
    """A block of pages that a pickle contains. `is_whole` promises that no thread writes any of its bytes meanwhile."""

    def __init__(self, start: int) -> None:
        self.start, self.is_whole = start, False

    def export(self, where: tuple[bytes, int]) -> _byre.Exported:
        return _byre.export(self.start, self.is_whole, *where)

    def __reduce__(self) -> _Reduced:
        try:
            return _fetched, (_mailbox_of(self.export(_copying.place_of(sys._getframe().f_back))),)
        except OSError as error:
            raise TransferError(f"send: cannot pass a descriptor to the other process: {error}. Close files, or raise "
                                "the limit of open files.") from error


class _Blocks(threading.local):
    """The blocks that picklers of a thread contain, by address. A pickler recognizes a block by the identity."""

    def __init__(self) -> None:
        self.known: weakref.WeakValueDictionary[int, Block] = weakref.WeakValueDictionary()


_blocks_of_picklers = _Blocks()


def block_at(start: int, is_whole: bool) -> Block:
    """The block to pickle next. A pickler that contains it already has exported it, and ignores `is_whole`."""
    block = _blocks_of_picklers.known.setdefault(start, Block(start))
    block.is_whole = is_whole
    return block


def may_share() -> bool:
    """True if other processes can map pages. Elsewhere arrays are pickled with their bytes."""
    return sys.platform == "linux"


def _block_of(x: Any) -> Block | None:
    """The block to send in place of the bytes of an array or tensor; None if byre.copy would copy these at once."""
    popen = context.get_spawning_popen()
    if not may_share() or len(getattr(popen, "_fds", ())) >= _MOST_INHERITED:
        return None
    leaf = _leaves.leaf_of("", x)
    nbytes = leaf.hi - leaf.lo
    start = _byre.find(leaf.lo, nbytes) if nbytes and _leaves.is_dense(leaf) else None
    if start is None:
        return None
    facts = _byre.facts(start)
    if facts["nbytes"] < LEAST_NBYTES or _blocks.why_at_once(facts, nbytes, nbytes, True):
        return None
    return block_at(start, nbytes >= facts["used_nbytes"])


def reduced(x: Any, block: Block) -> _Reduced:
    """How to pickle an array or tensor in a block."""
    if not isinstance(x, np.ndarray):
        leaf = _leaves.leaf_of("", x)
        return _torch.rebuilt, (block, leaf.lo - block.start, leaf.hi - leaf.lo, *_torch.recipe(x))
    return _array, (block, x.dtype, x.shape, _leaves.address_of(x) - block.start, x.strides)


def _array(memory: _Array, dtype: Any, shape: tuple[int, ...], offset: int, strides: tuple[int, ...]) -> _Array:
    return np.ndarray(shape, dtype, memory, offset, strides)


def _reduce_array(x: _Array) -> Any:
    block = _block_of(x)
    return x.__reduce__() if block is None else reduced(x, block)


def _mailbox_of(exported: _byre.Exported) -> Any:
    """A picklable reference to a socket that contains the exported pages."""
    ours, theirs = socket.socketpair()
    exported.send(ours.fileno())
    ours.shutdown(socket.SHUT_WR)
    popen = context.get_spawning_popen()
    mailbox = reduction.DupFd(theirs.fileno())
    if popen is None:
        theirs.close()
        if multiprocessing.parent_process() is not None:
            _unfetched.add(ours)
            return mailbox
    else:
        weakref.finalize(popen, theirs.close)  # the socket is empty once the child has received its arrays
    ours.close()
    return mailbox


def _fetched(mailbox: Any) -> _Array:
    try:
        with socket.socket(fileno=mailbox.detach()) as theirs:
            return _byre.receive(theirs.fileno())
    except (OSError, EOFError, RuntimeError, multiprocessing.ProcessError) as error:
        if isinstance(error, TransferError):
            raise
        raise TransferError(f"receive: cannot fetch an array of another process: {error!r}. Check whether that process "
                            "has ended, and whether this process can open more files.") from error


class _Unfetched:
    """The sockets of arrays that a child of multiprocessing has sent and that no process has fetched yet.

    The child waits for them at its exit, as it waits until its queues are written. Otherwise its arrays would be lost.
    """

    def __init__(self) -> None:
        self._sockets: dict[int, socket.socket] = {}
        self._begin()
        util.register_after_fork(self, _Unfetched._begin)

    def _begin(self) -> None:
        for ours in self._sockets.values():
            ours.close()
        self._sockets.clear()
        # Registered before anything is sent, because the thread of a queue may send when the exit has begun.
        util.Finalize(None, self._wait, exitpriority=-10)  # after the queues

    def add(self, ours: socket.socket) -> None:
        self._remove_fetched(select.poll(), 0)
        self._sockets[ours.fileno()] = ours

    def _remove_fetched(self, poller: select.poll, timeout: int | None) -> set[int]:
        sockets = self._sockets.copy()
        for number in sockets:
            poller.register(number, 0)  # reports when the other end is closed
        ready = {number for number, _ in poller.poll(timeout)}
        for number in ready & sockets.keys():
            self._sockets.pop(number).close()
        return ready

    def _wait(self) -> None:
        parent, poller = multiprocessing.parent_process(), select.poll()
        if parent is None:
            return
        poller.register(parent.sentinel, select.POLLIN)
        while self._sockets and parent.sentinel not in self._remove_fetched(poller, None):
            pass


_unfetched = _Unfetched()


def _reduce_tensor(t: Any) -> Any:
    block = _block_of(t) if _torch.is_picklable(t) else None
    return _torch.reduced_by_torch(t) if block is None else reduced(t, block)


if getattr(reduction, "HAVE_SEND_HANDLE", False):
    reduction.register(np.ndarray, _reduce_array)
    _torch.reduce = _reduce_tensor
    _torch.register_reducer()
