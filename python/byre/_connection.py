# SPDX-License-Identifier: BSL-1.0
"""Connections, which send trees of arrays to other processes."""
from __future__ import annotations

import copyreg
import heapq
import io
import pickle
import select
import socket
import struct
import sys
import types
from multiprocessing import reduction
from typing import Any

import numpy as np
from byre import _blocks, _byre, _copying, _leaves, _making, _reductions, _torch
from byre._errors import ArgumentError, ConnectionEnded, TransferError

_MOST_BLOCKS = 128  # of a message, because the receiver needs a descriptor for each
_HEAD = struct.Struct("=8sIIQ")  # the magic, the version, the number of buffers, and the size of the pickle
_MAGIC, _VERSION = b"byretree", 1
_BUFFER = struct.Struct("=QB")  # the size, and whether it is a block of pages


class _Buffers:
    """The buffers that follow a pickle: bytes, and blocks of pages."""

    def __init__(self) -> None:
        self.all: list[tuple[pickle.PickleBuffer, _byre.Exported | None]] = []
        self._blocks: dict[int, tuple[pickle.PickleBuffer, _byre.Exported]] = {}  # by the identity of the buffer

    def of_block(self, start: int, exported: _byre.Exported) -> pickle.PickleBuffer:
        buffer = pickle.PickleBuffer(_leaves.bytes_at(start, _byre.facts(start)["nbytes"], None).data)
        self._blocks[id(buffer)] = buffer, exported
        return buffer

    def add(self, buffer: pickle.PickleBuffer) -> None:
        self.all.append(self._blocks.get(id(buffer), (buffer, None)))


class _Pickler(reduction.ForkingPickler):
    """Pickles a tree, and sends the chosen blocks and the bytes of other arrays as buffers."""

    def __init__(self, file: io.BytesIO, buffers: _Buffers, chosen: dict[int, bool], where: tuple[bytes, int]) -> None:
        # A method of the pickler would be in a cycle, which would keep the descriptors of blocks open.
        super().__init__(file, 5, True, buffers.add)  # type: ignore[call-arg]
        # PyTorch's reducers would move tensors to memory that all processes write.
        reducers = {kind: reducer for kind, reducer in self._extra_reducers.items()  # type: ignore[attr-defined]
                    if not kind.__module__.startswith("torch")}
        self.dispatch_table = {**copyreg.dispatch_table, **reducers}
        self._buffers, self._chosen, self._where = buffers, chosen, where
        self._blocks: dict[int, _reductions.Block] = {}

    def reducer_override(self, x: Any) -> Any:
        is_tensor = _torch.is_tensor(x)
        if not is_tensor and type(x) is not np.ndarray:
            return NotImplemented
        leaf = _leaves.leaf_of("", x)
        _torch.expect_usable(leaf, "send")
        if leaf.lo == leaf.hi:
            return NotImplemented
        start = _byre.find(leaf.lo, leaf.hi - leaf.lo)
        if start in self._chosen:
            return _reductions.reduced(x, self._block(start), start)
        if not is_tensor and x.flags.forc:
            return NotImplemented
        dense = x.detach().contiguous() if is_tensor else x.copy(order="K")
        leaf = _leaves.leaf_of("", dense)
        buffer = pickle.PickleBuffer(_leaves.bytes_at(leaf.lo, leaf.hi - leaf.lo, dense).data)
        return _reductions.reduced(x, buffer, leaf.lo, dense)

    def _block(self, start: int) -> _reductions.Block:
        if start not in self._blocks:
            exported = _byre.export(start, self._chosen[start], *self._where)
            self._blocks[start] = _reductions.Block(start, (_itself, (self._buffers.of_block(start, exported),)))
        return self._blocks[start]


def _itself(x: Any) -> Any:
    return x


def _chosen_blocks(x: Any) -> dict[int, bool]:
    """The blocks to send in place of bytes, by address, and whether the tree contains all arrays of each block."""
    if not _reductions.may_share():
        return {}
    chosen: dict[int, tuple[int, bool]] = {}
    for start, groups in _copying.planned([x], "send")[1].items():
        facts = _byre.facts(start)
        seen_nbytes, dense_nbytes = _copying.covered(groups)
        if facts["nbytes"] >= _blocks.SMALL_NBYTES and not _blocks.why_at_once(facts, seen_nbytes, dense_nbytes, True):
            chosen[start] = facts["nbytes"], dense_nbytes >= facts["used_nbytes"]
    return {start: chosen[start][1] for start in heapq.nlargest(_MOST_BLOCKS, chosen, key=chosen.__getitem__)}


class Connection:
    """Sends trees of arrays and tensors over a connected Unix socket, and receives them.

    Arrays in pages are sent as lazy copies: no byte is copied, the arrays are writable in both processes, and neither
    observes the other's writes. byre.copy() copies these arrays lazily, too, or would if they were not written often.
    Arrays of one block also overlap in the receiver. Everything else is pickled with protocol 5, and the bytes of other
    arrays are sent beside the pickle. Only receive from processes that you trust, because a pickle can run code.

    The connection owns the socket, a `socket.socket` that is a stream without timeout. One thread may send while
    another receives. multiprocessing sends a connection as it sends a socket. Raises ArgumentError for other sockets.

    >>> weights = byre.zeros((1000, 1000))
    >>> here, there = byre.Pipe()
    >>> with here, there:
    ...     here.send({"weights": weights, "step": 1})
    ...     weights[0, 0] = 5
    ...     message = there.recv()
    >>> print(message["step"], message["weights"][0, 0])
    1 0.0
    """

    def __init__(self, sock: socket.socket) -> None:
        is_socket = isinstance(sock, socket.socket)
        if not is_socket or sock.family != getattr(socket, "AF_UNIX", None) or sock.type != socket.SOCK_STREAM:
            raise ArgumentError(f"Connection: {sock!r} is not a Unix stream. Pass a connected socket of family AF_UNIX "
                                "and type SOCK_STREAM.")
        if sock.gettimeout() is not None:
            raise ArgumentError(f"Connection: the socket has a timeout of {sock.gettimeout()} s. Call "
                                "socket.settimeout(None) first.")
        self._socket = sock

    def send(self, x: Any) -> None:
        """Sends a tree, or any other object that can be pickled. Waits while the socket is full.

        Raises TransferError if the other side has closed the connection, or if this process has too few descriptors. An
        error that occurs before the first byte is sent, such as an object that cannot be pickled, leaves the connection
        usable; any other error closes it. A concurrent write to x is a data race.
        """
        self._expect_open("send")
        file, buffers = io.BytesIO(), _Buffers()
        _Pickler(file, buffers, _chosen_blocks(x), _copying.place_of(sys._getframe().f_back)).dump(x)
        head = [_HEAD.pack(_MAGIC, _VERSION, len(buffers.all), file.tell())]
        head += [_BUFFER.pack(buffer.raw().nbytes, block is not None) for buffer, block in buffers.all]
        with _Closing(self, "send"):
            self._socket.sendall(b"".join(head) + file.getbuffer())
            for buffer, block in buffers.all:
                if block is None:
                    self._socket.sendall(buffer.raw())
                else:
                    self._wait(select.POLLOUT)
                    block.send(self._socket.fileno())

    def recv(self) -> Any:
        """Receives what the other side sent. Waits for it.

        Raises ConnectionEnded, which is an EOFError too, if the other side has closed the connection and everything was
        received. Raises TransferError if the message is not one of byre, or if this process has too few descriptors,
        and then closes the connection. An error of unpickling leaves the connection usable.
        """
        self.poll(None)
        with _Closing(self, "recv"):
            head = self._read(bytearray(_HEAD.size), may_end=True)
            magic, version, count, nbytes = _HEAD.unpack(head)
            if (magic, version) != (_MAGIC, _VERSION):
                raise TransferError(f"recv: the message begins with {bytes(head[:12])!r}, required "
                                    f"{_HEAD.pack(_MAGIC, _VERSION, 0, 0)[:12]!r}. Send it by Connection.send of this "
                                    "version of byre.")
            table = self._read(bytearray(_BUFFER.size * count))
            pickled = self._read(bytearray(nbytes))
            buffers = [self._block() if is_block else self._read(_new_buffer(size))
                       for size, is_block in _BUFFER.iter_unpack(table)]
        return pickle.loads(pickled, buffers=buffers)

    def poll(self, timeout: float | None = 0.0) -> bool:
        """Whether recv() would find the begin of a message, or the end of the connection, at once. Waits for it up to
        `timeout` seconds; None: without a limit."""
        self._expect_open("recv")
        return self._wait(select.POLLIN, timeout)

    @property
    def closed(self) -> bool:
        """Whether this side is closed."""
        return self._socket.fileno() < 0

    def fileno(self) -> int:
        """The descriptor of the socket, for `select` and multiprocessing.connection.wait()."""
        return self._socket.fileno()

    def close(self) -> None:
        """Closes the socket. The arrays that were received remain."""
        self._socket.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _connection_of, (self._socket,)

    def _expect_open(self, operation: str) -> None:
        if self.closed:
            raise TransferError(f"{operation}: the connection is closed. Make a new one.")

    def _wait(self, event: int, timeout: float | None = None) -> bool:
        """Waits in Python, which handles signals meanwhile, such as Ctrl-C. The C++ part then need not wait."""
        poller = select.poll()
        poller.register(self._socket, event)
        return bool(poller.poll(None if timeout is None else timeout * 1000))

    def _block(self) -> Any:
        self._wait(select.POLLIN)
        return _reductions.received(self._socket)

    def _read(self, buffer: Any, may_end: bool = False) -> Any:
        """Fills the buffer from the socket."""
        left = memoryview(buffer)
        while left:
            count = self._socket.recv_into(left)
            if not count:
                if may_end and len(left) == len(buffer):
                    raise ConnectionEnded("recv: the other side has closed the connection. Stop receiving.")
                raise TransferError(f"recv: the connection ended {len(left)} bytes before the end of a message. Check "
                                    "whether the other process failed.")
            left = left[count:]
        return buffer


def _new_buffer(nbytes: int) -> Any:
    return bytearray(nbytes) if nbytes < _blocks.SMALL_NBYTES else _making.empty(nbytes, np.uint8)


class _Closing:
    """Closes the connection if the block raises an error, because a part of a message may be lost."""

    def __init__(self, connection: Connection, operation: str) -> None:
        self._connection, self._operation = connection, operation

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: Any, error: BaseException | None, __: types.TracebackType | None) -> None:
        if error is not None:
            self._connection.close()
        if isinstance(error, OSError):
            raise TransferError(f"{self._operation}: the socket failed: {error}. Check whether the other process has "
                                "ended, and make a new connection.") from error


def Pipe() -> tuple[Connection, Connection]:
    """Two connections: what is sent to one of them is received from the other.

    >>> here, there = byre.Pipe()
    >>> with here, there:
    ...     here.send([1, 2])
    ...     print(there.recv())
    [1, 2]
    """
    here, there = map(_connection_of, socket.socketpair())
    return here, there


def _connection_of(sock: socket.socket) -> Connection:
    sock.settimeout(None)  # socket.setdefaulttimeout() may have set one
    return Connection(sock)


for _thing in (Connection, Pipe):
    _thing.__module__ = "byre"
