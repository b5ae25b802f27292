# SPDX-License-Identifier: BSL-1.0
"""How multiprocessing sends arrays and tensors in pages: as lazy copies in the other process.

A pickle contains a block once, however many arrays it has: as an address and a key. A process that reads the pickle
gets the descriptors of the block's pages from a thread of the sender, which has that address.
"""
from __future__ import annotations

import contextlib
import errno
import gc
import multiprocessing
import os
import pickle
import secrets
import select
import signal
import socket
import struct
import sys
import threading
import time
import weakref
from multiprocessing import context, queues, reduction
from typing import Any, Callable, NamedTuple

import numpy as np
from byre import _blocks, _byre, _copying, _leaves, _torch
from byre._errors import Error, TransferError

LEAST_NBYTES = 1 << 20  # smaller blocks are pickled faster than a process fetches a descriptor
_MOST_WAITING_READERS = 128
_NAME = b"\0byre-"  # of sockets without a file
_KEY_NBYTES = 32
_Array = np.ndarray[Any, Any]
_Reduced = tuple[Callable[..., Any], tuple[Any, ...]]


class ExportedViews(NamedTuple):
    """How many arrays other processes no longer use, and how many they do."""

    ended: int
    remaining: int


def collect(drop_unread: bool = False) -> ExportedViews:
    """Checks which sent blocks are no longer used by another process.

    A process stops using a block when it destroys the arrays, or ends in any way. Until byre.collect() or the next copy
    of a block notices, the next copy may copy pages that were written since. Any thread may call this function.

    An array that multiprocessing has pickled is kept until another process reads the pickle. If the reader has died,
    byre.collect(drop_unread=True) drops the array, and those of all other unread pickles: a process that reads such a
    pickle later gets a TransferError.

    >>> byre.collect()
    ExportedViews(ended=..., remaining=...)
    """
    if drop_unread:
        offers.clear()
    return ExportedViews(*_byre.collect())


class Block:
    """A block of pages in a pickle. A pickler contains it once, because all arrays of the block refer to one object."""

    def __init__(self, start: int, reduced: _Reduced) -> None:
        self.start, self._reduced = start, reduced

    def __reduce__(self) -> _Reduced:
        return self._reduced


def may_share() -> bool:
    """True if other processes can map pages. Elsewhere arrays are pickled with their bytes."""
    return sys.platform == "linux"


def _has_descriptors() -> bool:
    """False if the process uses half of the descriptors that it may open. The system gives the lowest free number."""
    try:
        number = os.open("/", os.O_RDONLY)
    except OSError:
        return False
    os.close(number)
    return 2 * number < os.sysconf("SC_OPEN_MAX")


def _block_of(pickler: Any, x: Any) -> Block | None:
    """The block to pickle in place of the bytes of x; None if byre.copy would copy these at once."""
    if type(x) is np.ndarray:
        if 2 * x.nbytes < LEAST_NBYTES:  # less than half of a block is copied at once; this test saves time
            return None
    elif not _torch.is_tensor(x) or not _torch.is_picklable(x):
        return None
    leaf = _leaves.leaf_of("", x)
    nbytes = leaf.hi - leaf.lo
    start = _byre.find(leaf.lo, nbytes) if nbytes and _leaves.is_dense(leaf) and may_share() else None
    if start is None:
        return None
    facts = _byre.facts(start)
    if facts["nbytes"] < LEAST_NBYTES or _blocks.why_at_once(facts, nbytes, nbytes, True):
        return None
    # The pickler keeps the blocks that it contains.
    known = vars(pickler).setdefault("blocks_of_byre", weakref.WeakValueDictionary())
    block: Block | None = known.get(start)
    if block is None and _has_descriptors():
        with contextlib.suppress(Error, OSError, RuntimeError):  # a limit of descriptors, memory or threads is reached
            block = known[start] = _offered(start, nbytes >= facts["used_nbytes"])
    return block


def _offered(start: int, has_all: bool) -> Block:
    """A block whose readers fetch it. The start of a process pickles its arguments itself, and other threads must not
    write them meanwhile. All other pickles may be made by a thread of a queue while the program writes the arrays."""
    popen = context.get_spawning_popen()
    exported = _byre.export(start, has_all and popen is not None, *_copying.place_of(sys._getframe(3).f_back))
    return Block(start, (_fetched, offers.add(exported, popen)))


def _dump(pickler: Any, x: Any) -> None:
    try:
        pickle.Pickler.dump(pickler, x)
    except BaseException:
        for block in vars(pickler).get("blocks_of_byre", {}).values():
            offers.drop(block.__reduce__()[1][1])  # no process gets the pickle
        raise


def reduced(x: Any, memory: Any, start: int, dense: Any = None) -> _Reduced:
    """How to pickle an array or tensor whose bytes are in `memory`, which begins at an address: those of x, or those of
    a copy without gaps."""
    dense = x if dense is None else dense
    leaf = _leaves.leaf_of("", dense)
    if not isinstance(x, np.ndarray):
        return _torch.rebuilt, (memory, leaf.lo - start, leaf.hi - leaf.lo, *_torch.recipe(x, dense))
    return _array, (memory, x.dtype, x.shape, _leaves.address_of(dense) - start, dense.strides)


def _array(memory: _Array, dtype: Any, shape: tuple[int, ...], offset: int, strides: tuple[int, ...]) -> _Array:
    return np.ndarray(shape, dtype, memory, offset, strides)


def _reducer_override(pickler: Any, x: Any) -> Any:
    block = _block_of(pickler, x)
    return NotImplemented if block is None else reduced(x, block, block.start)


def received(reader: socket.socket) -> _Array:
    """The bytes of a block that another process sent. They are in pages, or in ordinary memory if the process has few
    descriptors left, because a block in pages needs one."""
    array = _byre.receive(reader.fileno())
    return array if _has_descriptors() else array.copy()


def _is_of_this_user(other: socket.socket) -> bool:
    """Whether the process at the other end has the effective user of this process."""
    return bool(struct.unpack("3i", other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1] == os.geteuid())


def _fetched(address: bytes, key: bytes) -> _Array:
    try:
        with socket.socket(socket.AF_UNIX) as reader:
            reader.settimeout(None)
            reader.bind(_NAME + key + secrets.token_hex(8).encode())  # so that accept() returns the key
            reader.connect(address)
            if _is_of_this_user(reader) and reader.recv(1, socket.MSG_PEEK):
                array = received(reader)
                reader.recv(1)  # the sender drops its descriptors, and then closes the socket
                return array
    except OSError as error:
        way_out = "Check whether that process has ended."
        if error.errno in (errno.EMFILE, errno.ENFILE):
            way_out = "Close files, or raise the limit of open files."
        raise TransferError(f"receive: cannot fetch an array of another process: {error}. {way_out}") from error
    raise TransferError("receive: the array of this pickle is no longer offered: another process fetched it, "
                        "collect(drop_unread=True) dropped it, or this process has another user. Send it again.")


def _block_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # other threads handle signals


class _Offers:
    """The blocks of pickles that no process has read yet, and the thread that gives them to the readers.

    A child of multiprocessing waits for the readers at its exit, as it waits until its queues are written. Otherwise it
    would lose arrays, also with multiprocessing.resource_sharer, which refuses readers before the queues are written.
    """

    def __init__(self) -> None:
        self._listener: socket.socket | None = None
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        if self._listener is not None:
            self._listener.close()
        self._listener = None
        self._changed = threading.Condition()
        # Each with the thread that pickled it. None: for a child that is being started, which multiprocessing joins.
        self._exported: dict[bytes, tuple[_byre.Exported, threading.Thread | None]] = {}
        self._is_waiting = self._is_orphan = False

    def add(self, exported: _byre.Exported, popen: Any) -> tuple[bytes, bytes]:
        """The arguments with which another process calls _fetched(). `popen` is the child that is being started."""
        key = secrets.token_hex(_KEY_NBYTES // 2).encode()
        with self._changed:
            address = self._serving().getsockname()
            if popen is not None:
                weakref.finalize(popen, self.drop, key).atexit = False
            elif not self._is_waiting and multiprocessing.parent_process() is not None:
                threading.Thread(target=self._wait_at_exit, name="byre.exit", daemon=False).start()
                self._is_waiting = True
            self._exported[key] = exported, threading.current_thread() if popen is None else None
        return address, key

    def clear(self) -> None:
        with self._changed:
            self._exported.clear()
            self._changed.notify_all()

    def drop(self, key: bytes) -> None:
        with self._changed:
            self._exported.pop(key, None)
            self._changed.notify_all()

    def _serving(self) -> socket.socket:
        """The socket to which readers connect."""
        if self._listener is None:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(_NAME + secrets.token_hex().encode())
            listener.listen(_MOST_WAITING_READERS)
            threading.Thread(target=self._serve, args=(listener,), name="byre.offers", daemon=True).start()
            self._listener = listener
        return self._listener

    def _serve(self, listener: socket.socket) -> None:
        _block_signals()
        poller, parent = select.poll(), multiprocessing.parent_process()
        poller.register(listener, select.POLLIN)
        if parent is not None:
            poller.register(parent.sentinel, select.POLLIN)
        while True:
            for number, _ in poller.poll():
                if number == listener.fileno():
                    self._serve_one(listener)
                    continue
                poller.unregister(number)
                with self._changed:
                    self._is_orphan = True
                    self._changed.notify_all()

    def _serve_one(self, listener: socket.socket) -> None:
        try:
            reader, name = listener.accept()
        except OSError:  # too few descriptors
            time.sleep(0.1)
            return
        with reader, contextlib.suppress(Exception):  # the error of a reader must not end the thread
            key = os.fsencode(name)[len(_NAME) : len(_NAME) + _KEY_NBYTES]
            if _is_of_this_user(reader) and key in self._exported:
                try:
                    self._exported[key][0].send(reader.fileno())
                finally:
                    self.drop(key)

    def _wait_at_exit(self) -> None:
        """Keeps the process from ending: multiprocessing joins this thread."""
        _block_signals()
        threading.main_thread().join()  # multiprocessing has joined the threads of its queues by then
        with self._changed:
            self._changed.wait_for(lambda: self._is_orphan or not self._is_awaited())
            self._is_waiting = False

    def _is_awaited(self) -> bool:
        """Whether a block is left that was not put into a queue whose cancel_join_thread() was called."""
        threads = {thread for _, thread in list(self._exported.values())} - {None}
        if threads:
            found = [x for x in gc.get_objects() if issubclass(type(x), queues.Queue)]
            threads -= {queue._thread for queue in found if queue._joincancelled}
        return bool(threads)


offers = _Offers()
setattr(reduction.ForkingPickler, "reducer_override", _reducer_override)
setattr(reduction.ForkingPickler, "dump", _dump)
for _thing in (ExportedViews, collect):
    _thing.__module__ = "byre"
