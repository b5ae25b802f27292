# SPDX-License-Identifier: BSL-1.0
"""Arrays that byre.Connection and multiprocessing send to other processes."""
import contextlib
import copy
import gc
import io
import mmap
import multiprocessing.connection
import os
import pickle
import signal
import socket
import struct
import sys
import threading
from multiprocessing.reduction import ForkingPickler

import byre
import numpy as np
import pytest
from byre import _connection, _reductions
from byre._connection import _Buffers, _Pickler
from processes import METHODS, PAGE, copied_nbytes, descriptors, limit_descriptors, started
from processes import no_descriptor_is_left, no_earlier_view_is_counted  # noqa: F401
from support import DENSE, STRIDED, VIEWS, N, pickled, ramp, refused, run_in_child, same, sent


def write_and_send_on(connection, generation, method):
    with connection:
        x = connection.recv()
        x[generation * PAGE] = -generation
        if generation < 3:
            here, there = byre.Pipe()
            with here, there, started(method, write_and_send_on, there, generation + 1, method):
                here.send(x)
                x = here.recv()
        assert copied_nbytes(byre.Stats(0, 0, 0, 0, 0)) <= 100 * mmap.PAGESIZE < x.nbytes
        connection.send(x)


@pytest.mark.parametrize("method", METHODS)
def test_third_generation_of_processes_sends_back_what_all_wrote(method):
    source = ramp()
    here, there = byre.Pipe()
    with here, there, started(method, write_and_send_on, there, 1, method):
        here.send(source)
        source[5] = 9
        result = here.recv()
    expected = np.arange(N)
    expected[: 4 * PAGE : PAGE] = [0, -1, -2, -3]
    assert np.array_equal(result, expected)


@pytest.mark.parametrize("send", [sent, pickled])
@pytest.mark.parametrize("name", VIEWS)
def test_received_array_equals_the_sent_one_and_writes_are_independent(name, send):
    source = VIEWS[name](ramp())
    expected = source.copy(order="K")
    received, *counts = send(source)
    is_lazy = name in DENSE and type(source) is np.ndarray
    assert counts == [is_lazy, 0] and same(received, expected) and received.flags.writeable
    assert not is_lazy or [s for s, n in zip(received.strides, received.shape) if n > 1] == [
        s for s, n in zip(expected.strides, expected.shape) if n > 1]
    if source.flags.writeable and source.ndim:
        source.reshape(-1)[:1] = np.zeros(1, source.dtype)
        source[-1:] = source[:1]
    assert received.tobytes() == expected.tobytes()
    after = source.copy()
    received[...] = received[-1:] if received.ndim else 0
    assert source.tobytes() == after.tobytes()


def test_received_arrays_of_64_kib_are_lazy_and_share_memory_as_before():
    source = ramp().reshape(256, -1)
    tree = {"all": source, "columns": source.T, "half": source[100:], "row": source[3], "gaps": source[::2],
            "ordinary": np.arange(1 << 13), "small": np.arange(3), "words": ["a", {1, 2}]}
    before = byre.memory().blocks
    received, *counts = sent(tree)
    assert counts == [1, 0] and byre.memory().blocks == before + 2  # "ordinary" is received into pages
    assert list(received) == list(tree) and received["words"] == tree["words"]
    assert all(same(received[name], x) for name, x in tree.items() if name != "words")
    assert byre.is_lazy(received["all"]) and byre.is_lazy(received["ordinary"])
    received["all"][3, 0] = -1
    assert received["columns"][0, 3] == received["row"][0] == -1 != source[3, 0]
    received, *counts = pickled(tree)
    assert counts == [1, 0] and np.shares_memory(received["all"], received["columns"])
    assert not np.shares_memory(received["all"], received["row"])  # too small a part, as for byre.copy


def test_packed_arrays_are_sent_as_one_block():
    tree = byre.to_pages([np.full(3000, number, "f4") for number in range(50)])
    received, *counts = sent(tree)
    assert counts == [1, 0] and all(same(x, expected) for x, expected in zip(received, tree))
    received, *counts = sent(tree[3])
    assert counts == [0, 0] and received.base is None or received.base.nbytes == tree[3].nbytes


def test_part_of_a_block_is_sent_without_the_rest():
    source = ramp()
    for part in (source[: N // 2 - 1], source[N - 9 :]):
        for send in (sent, pickled):
            received, *counts = send(part)
            assert counts == [0, 0] and same(received, part)
            assert getattr(received.base, "nbytes", part.nbytes) == part.nbytes
        received, *counts = send(source[: N // 2])
        assert counts == [1, 0] and same(received, source[: N // 2])
    source[: N // 4] += 1
    for send in (sent, pickled):
        received, *counts = send(source[: N // 2])  # copy the whole block, says byre.explain()
        assert counts == [0, 0] and same(received, source[: N // 2])


def test_array_below_one_mib_is_sent_in_pages_by_connections_only():
    source = ramp(N - 1)
    assert sent(source)[1:] == (1, 0) and pickled(source)[1:] == (0, 0) == pickled(ramp(N // 2))[1:]
    with byre.pages(min_nbytes=0):
        assert sent(np.zeros(1 << 16, "u1"))[1] == 1 and sent(np.zeros((1 << 16) - 1, "u1"))[1] == 0


def test_written_pages_of_a_sent_array_are_sent_with_it_again():
    source = ramp()
    first = sent(source)[0]
    for number in (1, 2, 3):
        source[number * PAGE] = -1
        expected = source.copy()
        received, lazy_copies, nbytes = sent(source)
        assert lazy_copies == 1 and nbytes <= 3 * number * mmap.PAGESIZE and same(received, expected)
    assert np.array_equal(first, np.arange(N))
    source[:] = -1
    assert same(sent(source)[0], source) and np.array_equal(first, np.arange(N))


def test_largest_blocks_of_a_message_are_sent_in_pages():
    tree = [byre.full((9 + number % 9) << 10, number) for number in range(150)]
    file, buffers, chosen = io.BytesIO(), _Buffers(), _connection._chosen_blocks(tree)
    _Pickler(file, buffers, chosen, (b"", 1)).dump(tree)
    sizes = sorted((buffer.raw().nbytes, block is not None) for buffer, block in buffers.all)
    assert [is_block for _, is_block in sizes] == [False] * 22 + [True] * 128
    received, *counts = sent(tree)
    assert counts[0] == 128 and all(same(x, expected) for x, expected in zip(received, tree))


@pytest.mark.parametrize("name", STRIDED)
def test_bytes_of_other_arrays_follow_the_pickle(name):
    for source in (STRIDED[name](ramp()), STRIDED[name](np.arange(N, dtype=float))):
        file, buffers = io.BytesIO(), _Buffers()
        _Pickler(file, buffers, {}, (b"", 1)).dump(source)
        is_beside = type(source) is np.ndarray
        assert [buffer.raw().nbytes for buffer, _ in buffers.all] == [source.nbytes] * is_beside
        assert not is_beside or file.tell() < 1000


def test_where_no_pages_can_be_shared_arrays_are_pickled(monkeypatch):
    monkeypatch.setattr(sys, "platform", "other")
    source = ramp()
    for send in (sent, pickled):
        received, *counts = send(source)
        assert counts == [0, 0] and same(received, source)


@pytest.mark.parametrize("name", VIEWS)
def test_pickles_have_the_bytes_of_numpys_out_of_band(name):
    def pickle_of(x):
        buffers = []
        return len(pickle.dumps(x, protocol=5, buffer_callback=buffers.append)), [b.raw().nbytes for b in buffers]

    source = VIEWS[name](ramp())
    ordinary = VIEWS[name](np.arange(N, dtype=float))
    for x, expected in ((source, ordinary), (byre.copy(source), ordinary.copy(order="K")), (sent(source)[0],) * 2):
        assert pickle_of(x) == pickle_of(expected)
        for protocol in range(6) if name == "rows" else (2, 5):
            assert same(pickle.loads(pickle.dumps(x, protocol)), pickle.loads(pickle.dumps(expected, protocol)))
        buffers = []
        data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
        assert same(pickle.loads(data, buffers=buffers), expected) and same(copy.deepcopy(x), expected)
    if name == "rows":
        assert pickle_of(source) == (121, [source.nbytes])


def hold(connection):
    with connection:
        arrays = [connection.recv(), connection.recv()]
        connection.send("received")
        connection.recv()
    del arrays


@pytest.mark.parametrize("method", METHODS)
def test_killed_receiver_gives_up_its_arrays(method):
    here, there = byre.Pipe()
    process = multiprocessing.get_context(method).Process(target=hold, args=(there,))
    process.start()
    there.close()
    with here:
        sources = [ramp(), ramp()]  # after a fork, which would make their pages constant
        for source in sources:
            here.send(source)
        assert here.recv() == "received" and byre.collect() == (0, 2)
        process.kill()
        process.join()
        process.close()
        assert byre.collect() == (2, 0)
        with refused(byre.TransferError, "send: ", "Check whether the other process has ended"):
            here.send(sources[0])
        assert byre.collect().remaining == 0
        with refused(byre.TransferError, "send: the connection is closed"):
            here.send(1)


def test_views_in_flight_end_with_the_connection():
    source = ramp()
    here, there = byre.Pipe()
    here.send([source, 1])
    assert byre.collect() == (0, 1)
    there.close()
    assert byre.collect() == (1, 0)
    here.close()


def test_process_without_descriptors_is_told_so():
    source, most = ramp(), descriptors() + 8
    data = ForkingPickler.dumps(source)

    def action():
        here, there = byre.Pipe()
        kept = []
        limit_descriptors(most)
        here.send([1, source])
        with contextlib.suppress(OSError):
            while True:
                kept.append(os.dup(0))
        with refused(byre.TransferError, "descriptors of the message were lost", "raise the limit"):
            there.recv()
        with refused(byre.TransferError, "recv: the connection is closed"):
            there.recv()
        with refused(byre.TransferError, "export", "Close"):
            here.send(source)
        kept.append(os.dup(0))  # in place of the connection that was closed
        with refused(byre.TransferError, "receive: cannot fetch an array", "Close files, or raise the limit"):
            ForkingPickler.loads(data)
        assert len(ForkingPickler.dumps(source)) > source.nbytes
        for number in kept:
            os.close(number)
        here.close()
        limit_descriptors(4 * most)
        received, *counts = sent(source)
        assert counts == [1, 0] and same(received, source)

    run_in_child(action)
    assert same(ForkingPickler.loads(data), source)


HEAD = struct.pack("=8sIIQ", b"byretree", 1, 0, 5)
MESSAGES = {
    b"GET / HTTP/1.1\r\nHost: byre\r\n\r\n": "recv: the message begins with b'GET / HTTP/1', required b'byretree",
    HEAD.replace(b"\1", b"\2", 1) + bytes(5): "recv: the message begins with b'byretree\\x02",
    HEAD[:7]: "recv: the connection ended 17 bytes before the end of a message. Check whether the other process failed",
    HEAD: "recv: the connection ended 5 bytes before the end of a message",
    HEAD + b"abc": "recv: the connection ended 2 bytes before the end of a message",
    struct.pack("=8sIIQQB5s2048s", b"byretree", 1, 1, 5, 9, 1, b"abcde", bytes(2048)): "byre did not write the message",
    struct.pack("=8sIIQQB5s", b"byretree", 1, 1, 5, 9, 1, b"abcde"): "the socket ended after 0 bytes",
}


@pytest.mark.parametrize("message", MESSAGES, ids=range(len(MESSAGES)))
def test_malformed_message_is_refused_and_closes_the_connection(message):
    theirs, ours = socket.socketpair()
    with theirs, byre.Connection(ours) as connection:
        theirs.sendall(message)
        theirs.shutdown(socket.SHUT_WR)
        with refused(byre.TransferError, MESSAGES[message]):
            connection.recv()
        with refused(byre.TransferError, "recv: the connection is closed. Make a new one."):
            connection.recv()


def test_end_of_a_connection_is_an_eof_error():
    here, there = byre.Pipe()
    with here, there:
        here.send(None)
        here.close()
        assert there.recv() is None
        with refused(byre.ConnectionEnded, "recv: the other side has closed the connection"):
            there.recv()
    assert issubclass(byre.ConnectionEnded, EOFError)


class Unpicklable:
    def __reduce__(self):
        return int, ("seven",)


def test_connection_is_usable_after_an_error_of_pickling():
    here, there = byre.Pipe()
    with here, there:
        source = ramp()
        with pytest.raises((AttributeError, pickle.PicklingError)):
            here.send([source, lambda: 0])
        here.send([source, Unpicklable()])
        with pytest.raises(ValueError, match="seven"):
            there.recv()
        gc.collect()
        assert byre.collect().remaining == 0
        here.send(source)
        assert same(there.recv(), source)


def test_connection_refuses_sockets_that_it_cannot_use():
    for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        ends = socket.socketpair(socket.AF_UNIX, kind)
        with ends[0], ends[1], refused(byre.ArgumentError, "Connection: ", "Pass a connected socket of family AF_UNIX"):
            byre.Connection(ends[0])
    with socket.socket(socket.AF_INET) as internet, refused(byre.ArgumentError, "is not a Unix stream"):
        byre.Connection(internet)
    with refused(byre.ArgumentError, "Connection: 5 is not a Unix stream"):
        byre.Connection(5)
    here, there = socket.socketpair()
    with here, there:
        here.settimeout(3)
        with refused(byre.ArgumentError, "timeout of 3.0 s", "socket.settimeout(None)"):
            byre.Connection(here)


def test_connections_can_be_waited_for():
    here, there = byre.Pipe()
    with here, there:
        assert multiprocessing.connection.wait([here, there], 0) == []
        here.send(ramp())
        assert multiprocessing.connection.wait([here, there]) == [there] and there.recv()[5] == 5
        assert there.poll(0) is False and here.poll() is False
        here.send(1)
        assert there.poll(None) is True and there.recv() == 1
        assert (here.closed, there.closed) == (False, False)
        here.close()
        assert here.closed and there.poll() is True
        with refused(byre.TransferError, "recv: the connection is closed"):
            here.poll()


def test_connections_send_sockets_and_connections():
    here, there = byre.Pipe()
    first, second = multiprocessing.Pipe()
    with here, there, first, second:
        with contextlib.ExitStack() as stack:
            here.send([[stack.enter_context(end) for end in byre.Pipe()], second])
            (ours, theirs), received = there.recv()
        with ours, theirs, received:
            ours.send(ramp())
            assert theirs.recv()[5] == 5
            received.send("sent")
            assert first.recv() == "sent"
    multiprocessing.resource_sharer.stop()


def test_default_timeout_of_sockets_does_not_concern_pipes():
    socket.setdefaulttimeout(60)
    try:
        here, there = byre.Pipe()
        with here, there:
            here.send(here)
            there.recv().close()
    finally:
        socket.setdefaulttimeout(None)
    multiprocessing.resource_sharer.stop()


class Interrupted(Exception):
    pass


def names_of_calls(frame):
    while frame is not None:
        yield frame.f_code.co_name
        frame = frame.f_back


def expect_interruption(call, name):
    """Sends signals to the process while the main thread is in a function of this name, until it handles one."""
    main, handled = threading.get_ident(), []

    def kill():
        while not handled:
            if name in names_of_calls(sys._current_frames()[main]):
                os.kill(os.getpid(), signal.SIGUSR1)

    def interrupt(*_):
        if not handled:
            handled.append(True)
            raise Interrupted

    signal.signal(signal.SIGUSR1, interrupt)
    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(Interrupted):
        call()
    killer.join()


def test_signal_interrupts_a_wait_for_another_process():
    def action():
        here, there = byre.Pipe()
        expect_interruption(here.recv, "recv")
        assert not here.closed
        there._socket.sendall(struct.pack("=8sIIQQB", b"byretree", 1, 1, 0, 9, 1))
        expect_interruption(here.recv, "_block")
        assert here.closed
        here, there = byre.Pipe()
        expect_interruption(lambda: here.send([byre.ones(1 << 13) for _ in range(128)]), "_wait")
        assert here.closed

    run_in_child(action)


def test_signal_interrupts_a_wait_for_a_stopped_sender():
    def action():
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(b"\0byre-test-" + str(os.getpid()).encode())
            listener.listen()
            socket.setdefaulttimeout(0)  # does not concern readers
            expect_interruption(lambda: _reductions._fetched(listener.getsockname(), b"key"), "_fetched")

    run_in_child(action)
