# SPDX-License-Identifier: BSL-1.0
"""Arrays that multiprocessing and concurrent.futures send to other processes."""
import contextlib
import errno
import io
import mmap
import multiprocessing.connection
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import util
from multiprocessing.reduction import ForkingPickler

import byre
import numpy as np
import pytest
from byre import _byre, _reductions
from byre._leaves import address_of
from byre._reductions import offers
from processes import METHODS, PAGE, copied_nbytes, descriptors, limit_descriptors, started
from processes import no_descriptor_is_left, no_earlier_view_is_counted  # noqa: F401
from support import N, pickled, ramp, refused, run_in_child, same, sent


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
    assert is_as_sent and nbytes_of_worker == 0
    assert copied_nbytes(before) == mmap.PAGESIZE  # the page that the worker wrote
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


@pytest.mark.parametrize("send, is_whole", [(sent, True), (pickled, False)])
def test_written_pages_move_if_a_connection_sends_all_of_a_block(send, is_whole):
    source = ramp()
    send(source)
    byre.collect()
    source[-PAGE:] = -1
    assert send(source[: N // 2])[1:] == (1, 3 * mmap.PAGESIZE)  # another thread may write the rest meanwhile
    byre.collect()
    assert _byre.written_nbytes(address_of(source)) == mmap.PAGESIZE
    assert is_whole or send(source)[1:] == (1, 3 * mmap.PAGESIZE)  # so may the thread that puts it into a queue
    assert not is_whole or send(source)[1:] == (1, mmap.PAGESIZE)
    assert _byre.written_nbytes(address_of(source)) == (0 if is_whole else mmap.PAGESIZE)
    byre.collect()
    source[: N // 4] = -1
    received, _, nbytes = send(source)
    assert nbytes == source.nbytes // (4 if is_whole else 1) and byre.is_lazy(received) and same(received, source)


def test_array_keeps_the_writes_made_while_it_is_pickled():
    source, writes = byre.zeros(1 << 20), 0
    with ThreadPoolExecutor() as pool:
        for _ in range(100):
            putting = pool.submit(pickled, source)  # as the thread of a queue does
            while not putting.done():
                source += 1
                writes += 1
            received = putting.result()  # kept, so that the next round writes shared pages
    assert (source == writes).all() and received[0].max() <= writes


def expect_arrays(arrays):
    assert [x[9] for x in arrays] == list(range(len(arrays)))


@pytest.mark.parametrize("method", METHODS[1:])
def test_child_is_started_with_more_arrays_than_descriptors_can_be_passed(method):
    arrays = [byre.zeros(N) for _ in range(300)]
    for number, array in enumerate(arrays):
        array[9] = number
    with started(method, expect_arrays, arrays):
        pass


class KillsItsProcess:
    def __reduce__(self):
        return os._exit, (1,)


@pytest.mark.parametrize("method", METHODS[1:])
def test_array_of_a_child_that_dies_unread_can_be_dropped(method):
    source = ramp()
    for drop in (lambda: byre.collect(drop_unread=True), lambda: byre.collect()):
        process = multiprocessing.get_context(method).Process(target=len, args=(KillsItsProcess(), source))
        process.start()
        process.join()
        assert process.exitcode == 1 and byre.collect() == (0, 1)
        if drop() == (0, 1):
            process.close()
            assert byre.collect() == (1, 0)
        del process


def hold(connection, arrays):
    with connection:
        connection.send(len(arrays))
        connection.recv()


@pytest.mark.parametrize("method", METHODS[1:])
def test_started_child_holds_no_descriptor_of_its_parent(method):
    arrays, counts = [byre.zeros(N) for _ in range(9)], []
    for count in (1, 9):
        here, there = multiprocessing.Pipe()
        with here, there, started(method, hold, there, arrays[:count]):
            assert here.recv() == count
            counts.append(descriptors())
            here.send(None)
    assert counts[0] == counts[1]


CHILD = """
import multiprocessing, byre
def show(x):
    print(x[5])
if __name__ == "__main__":
    multiprocessing.get_context("METHOD").Process(target=show, args=(byre.ones(1 << 17),)).start()
"""


@pytest.mark.parametrize("method", METHODS[1:])
def test_child_of_a_program_that_ends_gets_its_array(method, tmp_path):
    (tmp_path / "program.py").write_text(CHILD.replace("METHOD", method))
    ended = subprocess.run([sys.executable, tmp_path / "program.py"], check=True, stdout=subprocess.PIPE, timeout=120)
    assert ended.stdout == b"1.0\n"


def test_views_of_unread_pickles_end_when_they_are_dropped():
    source = ramp()
    data = ForkingPickler.dumps(source)
    assert byre.collect() == (0, 1) and byre.collect(drop_unread=True) == (1, 0)
    with refused(byre.TransferError, "receive: the array of this pickle is no longer offered", "dropped"):
        ForkingPickler.loads(data)


def test_array_of_a_failed_pickle_is_dropped():
    source = ramp()
    with pytest.raises((AttributeError, pickle.PicklingError)):
        ForkingPickler.dumps([source, lambda: 0])
    assert byre.collect() == (1, 0)


def test_pickle_that_is_read_twice_is_refused():
    data = ForkingPickler.dumps(ramp())
    assert ForkingPickler.loads(data)[5] == 5
    with refused(byre.TransferError, "no longer offered: another process fetched it"):
        ForkingPickler.loads(data)


def test_pickle_of_a_process_that_ended_is_refused():
    program = "import byre, sys, multiprocessing.reduction as r\n"
    program += "sys.stdout.buffer.write(r.ForkingPickler.dumps(byre.ones(1 << 17)))"
    data = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE).stdout
    with refused(byre.TransferError, "receive: cannot fetch an array", "refused", "Check whether that process"):
        ForkingPickler.loads(data)


def test_reader_without_a_key_gets_nothing_and_delays_none():
    data = ForkingPickler.dumps(ramp())
    for name in (None, b"\0byre-" + bytes(32), b"\0byre", b"\0other"):
        with socket.socket(socket.AF_UNIX) as reader:
            if name:
                reader.bind(name)
            reader.connect(offers._listener.getsockname())
            assert reader.recv(9) == b""
    assert ForkingPickler.loads(data)[5] == 5


class Fails:
    def send(self, socket):
        raise byre.OutOfMemory("as the system may")


def test_thread_of_offers_outlives_errors(monkeypatch):
    accept, errors = socket.socket.accept, [OSError(errno.EMFILE, "too many open files")]

    def accept_later(listener):
        if errors:
            raise errors.pop()
        return accept(listener)

    monkeypatch.setattr(socket.socket, "accept", accept_later)
    assert pickled(ramp())[0][5] == 5 and not errors
    with refused(byre.TransferError, "no longer offered"):
        _reductions._fetched(*offers.add(Fails(), None))
    assert pickled(ramp())[0][5] == 5


def test_thread_of_offers_takes_no_signal():
    def action():
        pickled(ramp())
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        os.kill(os.getpid(), signal.SIGUSR1)  # would end the process in a thread that does not block it
        assert signal.sigwait([signal.SIGUSR1]) == signal.SIGUSR1

    run_in_child(action)


def test_reader_returns_after_the_sender_dropped_the_offer(monkeypatch):
    drop, dropped = offers.drop, []

    def drop_late(key):
        threading.Event().wait(0.05)  # without effect on a correct reader
        drop(key)
        dropped.append(key)

    monkeypatch.setattr(offers, "drop", drop_late)
    assert pickled(ramp())[0][5] == 5 and len(dropped) == 1


def is_open(number):
    with contextlib.suppress(OSError):
        return os.fstat(number) is not None


def test_forked_child_has_offers_of_its_own():
    data = ForkingPickler.dumps(ramp())
    listener = os.fstat(offers._listener.fileno()).st_ino

    def action():
        numbers = [number for number in map(int, os.listdir("/proc/self/fd")) if is_open(number)]
        assert listener not in {os.fstat(number).st_ino for number in numbers}
        assert not offers._exported and pickled(ramp())[0][5] == 5

    run_in_child(action)
    assert ForkingPickler.loads(data)[5] == 5


def test_reader_of_another_user_gets_nothing():
    data = ForkingPickler.dumps(ramp())
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")

    def action():
        os.setuid(12345)
        with refused(byre.TransferError, "no longer offered", "this process has another user"):
            ForkingPickler.loads(data)

    run_in_child(action)
    assert ForkingPickler.loads(data)[5] == 5


def test_offer_of_another_user_is_not_read():
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    here, there = multiprocessing.Pipe()

    def action():
        os.setuid(12345)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(b"")  # the system chooses a name without a file
            listener.listen()
            there.send(listener.getsockname())
            with listener.accept()[0] as reader, contextlib.suppress(BrokenPipeError):
                reader.sendall(bytes(4096))

    def read():
        with refused(byre.TransferError, "no longer offered", "this process has another user"):
            _reductions._fetched(here.recv(), b"key")

    with here, there:
        run_in_child(action, read)


def test_default_timeout_of_sockets_does_not_concern_offers():
    socket.setdefaulttimeout(0)
    try:
        run_in_child(lambda: pickled(ramp()))  # the child begins to serve
    finally:
        socket.setdefaulttimeout(None)


def test_receiver_with_few_descriptors_copies_to_ordinary_memory():
    data = [ForkingPickler.dumps(ramp()) for _ in range(80)]

    def action():
        limit_descriptors(2 * descriptors() + 40)
        arrays = [ForkingPickler.loads(x) for x in data]
        assert byre.is_lazy(arrays[0]) and not byre.is_lazy(arrays[-1])
        assert all(same(x, ramp()) for x in arrays) and arrays[-1].flags.writeable

    run_in_child(action)
    assert byre.collect().remaining == 0


def test_sender_with_few_descriptors_pickles_the_bytes():
    def action():
        limit_descriptors(2 * descriptors() + 40)
        source = ramp()
        data = [ForkingPickler.dumps(source) for _ in range(80)]
        assert len(data[0]) < 1000 and len(data[-1]) > source.nbytes
        kept = []
        with contextlib.suppress(OSError):
            while True:
                kept.append(os.dup(0))
        assert len(kept) > 20 and len(ForkingPickler.dumps(source)) > source.nbytes
        for number in kept:
            os.close(number)
        assert all(same(ForkingPickler.loads(x), source) for x in data)

    run_in_child(action)


@pytest.mark.parametrize("kind", [OSError, RuntimeError, byre.TransferError, byre.OutOfMemory])
def test_array_that_cannot_be_offered_is_pickled_by_its_bytes(kind, monkeypatch):
    def add(*_):
        raise kind

    monkeypatch.setattr(offers, "add", add)
    data = ForkingPickler.dumps(ramp())
    assert len(data) > ramp().nbytes and same(ForkingPickler.loads(data), ramp())


def put_and_cancel(queue):
    queue.put(ramp())
    queue._reader.poll(None)
    queue.cancel_join_thread()


@pytest.mark.parametrize("method", METHODS)
def test_child_that_cancels_the_join_of_its_queue_ends_at_once(method):
    queue = multiprocessing.get_context(method).Queue()
    with started(method, put_and_cancel, queue):
        pass
    with refused(byre.TransferError, "receive: "):
        queue.get()
    queue.close()


def send_later(connection, is_served):
    if is_served:
        connection.send(ramp())

    def send():
        threading.main_thread().join()
        for thread in threading.enumerate():
            if thread.name == "byre.exit":  # it no longer waits, if it began to
                thread.join()
        connection.send(ramp())

    threading.Thread(target=send).start()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("is_served", [False, True])
def test_array_that_a_thread_sends_after_the_target_is_received(is_served, method):
    here, there = multiprocessing.get_context(method).Pipe()
    with here, there, started(method, send_later, there, is_served):
        for _ in range(1 + is_served):
            assert np.array_equal(here.recv(), np.arange(N))


def doubled(x):
    x *= 2
    return x


@pytest.mark.parametrize("method", METHODS)
def test_pool_copies_no_bytes_of_arrays_in_pages(method):
    source = ramp()
    before = byre.stats()
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.map(doubled, [source] * 5)
    assert copied_nbytes(before) == 0 and np.array_equal(source, np.arange(N))
    assert all(np.array_equal(x, 2 * source) and byre.is_lazy(x) for x in results)


def test_array_of_a_mapped_file_is_received_and_written(tmp_path):
    np.save(tmp_path / "x.npy", ramp())
    source = byre.mmap(tmp_path / "x.npy")
    for send in (sent, pickled):
        received, *counts = send(source)
        assert counts == [1, 0] and same(received, ramp())
        received[5] = -1
        assert source[5] == 5


RECEIVER = """
import os, sys
from multiprocessing.connection import Connection
x = Connection(int(sys.argv[1])).recv()
x[0] += 5
print(x[:3].sum(), sys.modules["byre"].is_lazy(x))
"""


def test_receiver_need_not_import_byre():
    here, there = multiprocessing.Pipe()
    with here, there:
        receiver = subprocess.Popen([sys.executable, "-c", RECEIVER, str(there.fileno())], pass_fds=[there.fileno()],
                                    stdout=subprocess.PIPE)
        here.send(ramp())
        assert receiver.communicate()[0] == b"8.0 True\n"


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_of_ordinary_arrays_are_unchanged(protocol):
    tree = [np.arange(float(N)), np.arange(3), np.arange(9)[::-1], np.array([{}]), np.ones((2, 2)).view(np.matrix)]
    assert ForkingPickler.dumps(tree, protocol) == pickle.dumps(tree, protocol)
    buffers, expected = [], []
    if protocol == 5:
        ForkingPickler(io.BytesIO(), 5, True, buffers.append).dump(tree)
        pickle.dumps(tree, 5, buffer_callback=expected.append)
        assert [x.raw() for x in buffers] == [x.raw() for x in expected]
