# SPDX-License-Identifier: BSL-1.0
"""Arrays that multiprocessing and byre.Connection send to other processes."""
import contextlib
import copy
import gc
import mmap
import multiprocessing.connection
import os
import pickle
import resource
import socket
import struct
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import util
from multiprocessing.reduction import ForkingPickler

import byre
import numpy as np
import pytest
from byre import _byre
from byre._leaves import address_of
from byre._reductions import offers
from support import DENSE, VIEWS, N, pickled, ramp, refused, run_in_child, same, sent, used

METHODS = ["fork", "spawn", "forkserver"]
PAGE = 512  # elements of float64


@pytest.fixture(scope="module", autouse=True)
def no_descriptor_is_left():
    """The fork server, the resource tracker and the thread of offers have descriptors of their own."""
    pickled(ramp())
    multiprocessing.get_context("forkserver").Process(target=len, args=((),)).start()
    for child in multiprocessing.active_children():
        child.join()
    gc.collect()
    before = used()
    yield
    gc.collect()
    assert used() == before and byre.collect().remaining == 0


@pytest.fixture(autouse=True)
def no_earlier_view_is_counted():
    gc.collect()
    byre.collect()


@contextlib.contextmanager
def started(method, target, *args):
    """A process that runs `target`. It must end without an error before the block ends."""
    process = multiprocessing.get_context(method).Process(target=target, args=args)
    process.start()
    try:
        yield process
        process.join()
        assert process.exitcode == 0
    finally:
        process.kill()
        process.join()
        process.close()


def copied_nbytes(before):
    return (byre.stats() - before).bytes_copied


def used_by_worker(x):
    """Whether x is as sent, the bytes that this process has copied, and x with other elements."""
    is_as_sent = np.array_equal(x, np.arange(N)) and x.flags.writeable and byre.is_lazy(x)
    kept = byre.copy(x)
    x[PAGE] = -1
    return is_as_sent and kept[PAGE] == PAGE, copied_nbytes(byre.Stats(0, 0, 0, 0, 0)), x


@pytest.mark.parametrize("method", METHODS)
def test_executor_copies_no_bytes_of_arrays_in_pages(method):
    source = ramp()
    before = byre.stats()
    with ProcessPoolExecutor(1, multiprocessing.get_context(method)) as executor:
        future = executor.submit(used_by_worker, source)
        is_as_sent, nbytes_of_worker, result = future.result()
    assert is_as_sent and nbytes_of_worker == copied_nbytes(before) == 0
    result[0] = source[1] = -2
    assert result[:3].tolist() == [-2, 1, 2] and source[:3].tolist() == [0, -2, 2]
    assert result[PAGE] == -1 and source[PAGE] == PAGE and np.array_equal(result[PAGE + 1 :], source[PAGE + 1 :])
    assert result.flags.writeable and byre.is_lazy(result)


def put(queue, x):
    for number in (5, 6, 7):
        x[0] = number
        queue.put(byre.copy(x))


@pytest.mark.parametrize("method", METHODS)
def test_array_of_a_queue_outlives_the_process_that_put_it(method):
    source = ramp()
    queue = multiprocessing.get_context(method).Queue()
    with started(method, put, queue, source):
        results = [queue.get() for _ in range(3)]
    queue.close()
    queue.join_thread()
    assert [x[0] for x in results] == [5, 6, 7] and all(np.array_equal(x[1:], source[1:]) for x in results)
    assert source[0] == 0


def put_and_say(queue, ready):
    """Another thread of this process sends. It may do so after the exit has begun."""
    queue.put(ramp())
    util.Finalize(None, ready.close, exitpriority=-9)  # right before this process waits


def test_child_at_its_exit_waits_until_its_array_is_fetched():
    context = multiprocessing.get_context("fork")
    queue, (here, there) = context.Queue(), context.Pipe()
    with started("fork", put_and_say, queue, there) as process, here:
        there.close()
        with pytest.raises(EOFError):
            here.recv()
        assert multiprocessing.connection.wait([process.sentinel], 0.1) == []
        assert np.array_equal(queue.get(), np.arange(N))
    queue.close()
    queue.join_thread()


PARENT = """
import multiprocessing, os, byre
def put(queue):
    queue.put(byre.zeros(1 << 17))
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    context.Process(target=put, args=(queue,)).start()
    queue._reader.poll(None)
    os._exit(7)
"""


def test_child_does_not_wait_for_a_parent_that_has_ended(tmp_path):
    (tmp_path / "program.py").write_text(PARENT)
    # The child has standard output too, so its end is awaited.
    ended = subprocess.run([sys.executable, tmp_path / "program.py"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           timeout=120)
    assert ended.returncode == 7


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


def test_manager_keeps_arrays_of_other_processes():
    source = ramp()
    with multiprocessing.get_context("spawn").Manager() as manager:
        arrays = manager.dict(x=source)
        source[0] = 5
        before = byre.stats()
        first, second = arrays["x"], arrays["x"]
    assert copied_nbytes(before) == 0
    first[1] = 5
    assert first[:3].tolist() == [0, 5, 2] and np.array_equal(second, np.arange(N))


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
        assert lazy_copies == 1 and nbytes <= 2 * number * mmap.PAGESIZE and same(received, expected)
    assert np.array_equal(first, np.arange(N))
    source[:] = -1
    assert same(sent(source)[0], source) and np.array_equal(first, np.arange(N))


@pytest.mark.parametrize("send", [sent, pickled])
def test_written_pages_move_into_the_shared_pages_if_all_of_a_block_is_sent(send):
    source = ramp()
    send(source)
    byre.collect()
    source[-PAGE:] = -1
    assert send(source[: N // 2])[1:] == (1, 2 * mmap.PAGESIZE)  # another thread may write the rest meanwhile
    byre.collect()
    assert _byre.written_nbytes(address_of(source)) == mmap.PAGESIZE
    assert send(source)[1:] == (1, mmap.PAGESIZE)
    assert _byre.written_nbytes(address_of(source)) == 0
    byre.collect()
    source[: N // 4] = -1
    assert send(source)[1:] == (1, source.nbytes // 4)
    byre.collect()
    assert send(source)[1:] == (1, 0) and np.array_equal(send(source)[0], source)


def expect_arrays(arrays):
    assert [x[9] for x in arrays] == list(range(len(arrays)))


@pytest.mark.parametrize("method", METHODS[1:])
def test_child_is_started_with_more_arrays_than_descriptors_can_be_passed(method):
    arrays = [byre.zeros(N) for _ in range(300)]
    for number, array in enumerate(arrays):
        array[9] = number
    with started(method, expect_arrays, arrays):
        pass


def test_many_blocks_of_one_message_need_few_descriptors():
    tree = [byre.full(1 << 13, number) for number in range(150)]
    received, *counts = sent(tree)
    assert counts[0] == 128 and all(same(x, expected) for x, expected in zip(received, tree))


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


class KillsItsProcess:
    def __reduce__(self):
        return os._exit, (1,)


@pytest.mark.parametrize("method", METHODS[1:])
def test_child_that_dies_before_it_receives_leaves_no_view(method):
    source = ramp()
    process = multiprocessing.get_context(method).Process(target=len, args=(KillsItsProcess(), source))
    process.start()
    process.join()
    assert process.exitcode == 1 and byre.collect() == (0, 1)
    process.close()
    assert byre.collect() == (1, 0)


def test_views_of_unread_pickles_end_when_they_are_dropped():
    source = ramp()
    data = ForkingPickler.dumps(source)
    assert byre.collect() == (0, 1) and byre.collect(drop_unread=True) == (1, 0)
    with refused(byre.TransferError, "the socket ended after 0 bytes", "Check whether the other process failed"):
        ForkingPickler.loads(data)


def test_pickle_that_is_read_twice_is_refused():
    data = ForkingPickler.dumps(ramp())
    assert ForkingPickler.loads(data)[5] == 5
    with refused(byre.TransferError, "the socket ended after 0 bytes"):
        ForkingPickler.loads(data)


def test_pickle_of_a_process_that_ended_is_refused():
    program = "import byre, sys, multiprocessing.reduction as r\n"
    program += "sys.stdout.buffer.write(r.ForkingPickler.dumps(byre.ones(1 << 17)))"
    data = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE).stdout
    with refused(byre.TransferError, "receive: cannot fetch an array", "refused", "Check whether that process"):
        ForkingPickler.loads(data)


def test_offer_is_given_only_for_its_key():
    data = ForkingPickler.dumps(ramp())
    address = offers._sockets[0].getsockname()
    for key in (bytes(16), b"short", b""):
        with socket.socket(socket.AF_UNIX) as reader:
            reader.connect(address)
            reader.sendall(key)
            reader.shutdown(socket.SHUT_WR)
            assert reader.recv(9) == b""
    assert ForkingPickler.loads(data)[5] == 5


def is_open(number):
    with contextlib.suppress(OSError):
        return os.fstat(number) is not None


def test_forked_child_has_offers_of_its_own():
    data = ForkingPickler.dumps(ramp())
    ours = {os.fstat(each.fileno()).st_ino for each in offers._sockets}

    def action():
        numbers = [number for number in map(int, os.listdir("/proc/self/fd")) if is_open(number)]
        assert not ours & {os.fstat(number).st_ino for number in numbers}
        assert not offers._exported and pickled(ramp())[0][5] == 5

    run_in_child(action)
    assert ForkingPickler.loads(data)[5] == 5


def test_reader_of_another_user_gets_nothing():
    data = ForkingPickler.dumps(ramp())
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")

    def action():
        os.setuid(12345)
        with refused(byre.TransferError, "the socket ended after 0 bytes"):
            ForkingPickler.loads(data)

    run_in_child(action)


def test_process_without_descriptors_is_told_so():
    source, most = ramp(), len(os.listdir("/proc/self/fd")) + 8

    def action():
        here, there = byre.Pipe()
        kept = []
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
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
        with refused(byre.TransferError, "Close files, or raise the limit"):
            ForkingPickler.dumps(source)
        for number in kept:
            os.close(number)
        here.close()
        received, *counts = sent(source)
        assert counts == [1, 0] and same(received, source)

    run_in_child(action)


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
