# SPDX-License-Identifier: BSL-1.0
"""How multiprocessing sends arrays and tensors in pages: as lazy copies in the other process.

A pickle contains a block once, however many arrays it has. A child that is being started inherits a socket that
contains the descriptor of the block's pages. Any other process gets the descriptor from a thread of the sender.
"""
from __future__ import annotations

import contextlib
import multiprocessing
import os
import secrets
import select
import signal
import socket
import struct
import sys
import threading
import weakref
from multiprocessing import context, reduction, util
from typing import Any, Callable

import numpy as np
from byre import _blocks, _byre, _copying, _leaves, _torch
from byre._errors import TransferError

LEAST_NBYTES = 1 << 20  # smaller blocks are pickled faster than a process fetches a descriptor
_KEY_NBYTES = 16
_MOST_WAITING_READERS = 128
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
        exported, popen = self.export(_copying.place_of(sys._getframe().f_back)), context.get_spawning_popen()
        try:
            if popen is None:
                return _fetched, offers.add(exported)
            return _with_popen(exported, popen)
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


def _with_popen(exported: _byre.Exported, popen: Any) -> _Reduced:
    """Sends the block to a socket that the child inherits."""
    ours, theirs = socket.socketpair()
    with ours:
        exported.send(ours.fileno())
    weakref.finalize(popen, theirs.close)  # the socket is empty once the child has received its arrays
    return _inherited, (reduction.DupFd(theirs.fileno()),)


def _inherited(descriptor: Any) -> _Array:
    with socket.socket(fileno=descriptor.detach()) as theirs:
        return _byre.receive(theirs.fileno())


def _fetched(address: bytes, key: bytes) -> _Array:
    try:
        with socket.socket(socket.AF_UNIX) as theirs:
            theirs.connect(address)
            theirs.sendall(key)
            return _byre.receive(theirs.fileno())
    except OSError as error:
        raise TransferError(f"receive: cannot fetch an array of another process: {error}. Check whether that process "
                            "has ended.") from error


class _Offers:
    """The blocks of pickles that no process has read yet, and the thread that gives them to the readers.

    A child of multiprocessing waits for the readers at its exit, as it waits until its queues are written. Otherwise it
    would lose arrays, also with multiprocessing.resource_sharer, which refuses readers before the queues are written.
    """

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []  # the listener, and two that stop the thread
        self._forget()
        os.register_at_fork(after_in_child=self._forget)
        self._watch_exit()
        util.register_after_fork(self, _Offers._watch_exit)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._exported: dict[bytes, _byre.Exported] = {}
        for ours in self._sockets:
            ours.close()
        self._sockets = []

    def _watch_exit(self) -> None:
        # Registered before any offer, because the thread of a queue may make one when the exit has begun.
        util.Finalize(None, self._serve_at_exit, exitpriority=-10)  # after the queues

    def add(self, exported: _byre.Exported) -> tuple[bytes, bytes]:
        """The arguments with which another process calls _fetched()."""
        key = secrets.token_bytes(_KEY_NBYTES)
        with self._lock:
            if not self._sockets:
                self._begin()
            self._exported[key] = exported
            return self._sockets[0].getsockname(), key

    def clear(self) -> None:
        self._exported.clear()

    def _begin(self) -> None:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(b"\0byre-" + secrets.token_hex(_KEY_NBYTES).encode())  # an address without a file
        listener.listen(_MOST_WAITING_READERS)
        listener.setblocking(False)
        sockets = [listener, *socket.socketpair()]
        self._thread = threading.Thread(target=self._serve, args=sockets[:2], name="byre.offers", daemon=True)
        self._thread.start()
        self._sockets = sockets

    def _serve(self, listener: socket.socket, stopped: socket.socket) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # other threads handle signals
        while not self._serve_one(listener, stopped.fileno()):
            pass

    def _serve_one(self, listener: socket.socket, stopped: int) -> bool:
        """Waits for a reader, and returns False, or waits until `stopped` is readable, and returns True."""
        poller = select.poll()
        poller.register(listener, select.POLLIN)
        poller.register(stopped, select.POLLIN)
        if stopped in dict(poller.poll()):
            return True
        try:
            reader, _ = listener.accept()
        except OSError:  # too few descriptors
            return bool(select.select([stopped], [], [], 0.1)[0])
        with reader, contextlib.suppress(OSError, TransferError):  # the reader has ended
            reader.setblocking(True)
            user = struct.unpack("3i", reader.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
            key = reader.recv(_KEY_NBYTES, socket.MSG_WAITALL)
            exported = self._exported.pop(key, None)
            if exported is not None and user == os.geteuid():
                exported.send(reader.fileno())
        return False

    def _serve_at_exit(self) -> None:
        parent = multiprocessing.parent_process()
        if parent is None or not self._sockets:
            return
        self._sockets[2].close()
        self._thread.join()
        while self._exported and not self._serve_one(self._sockets[0], parent.sentinel):
            pass


offers = _Offers()


def _reduce_tensor(t: Any) -> Any:
    block = _block_of(t) if _torch.is_picklable(t) else None
    return _torch.reduced_by_torch(t) if block is None else reduced(t, block)


if getattr(reduction, "HAVE_SEND_HANDLE", False):
    reduction.register(np.ndarray, _reduce_array)
    _torch.reduce = _reduce_tensor
    _torch.register_reducer()
