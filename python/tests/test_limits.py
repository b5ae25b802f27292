# SPDX-License-Identifier: BSL-1.0
"""How byre.copy chooses, and limits of the system that it meets."""
import contextlib
import gc
import itertools
import mmap
import os
import pathlib
import resource
import subprocess
import sys
import threading

import byre
import numpy as np
import pytest
from byre import _blocks
from support import N, Counted, ramp, refused, run_in_child, wait_for_collapses

NBYTES = 8 * N
PART = N // 64  # elements of ramp() for each page that byre samples


def test_thousand_copies_of_one_array_are_independent():
    source = ramp()
    copies = [byre.copy(source) for _ in range(1000)]
    for number, copy in enumerate(copies):
        copy[number] = -1
    source[:] = -1
    for number, copy in enumerate(copies):
        assert copy[number] == -1 and np.array_equal(np.delete(copy, number), np.delete(np.arange(N), number))


def use_all_mappings(kept):
    with contextlib.suppress(OSError):
        for number in itertools.count():
            kept.append(mmap.mmap(-1, 4096, prot=mmap.PROT_READ << number % 2))  # equal ones would merge


def limit_addresses(_):
    resource.setrlimit(resource.RLIMIT_AS, (0, resource.RLIM_INFINITY))


@pytest.mark.parametrize("limit", [use_all_mappings, limit_addresses])
def test_copy_is_made_at_once_if_the_system_has_no_mapping(limit):
    sources = [ramp(1 << 13), ramp(1 << 13)]
    copies = [byre.copy(sources[1])]
    heap = [np.empty(1 << 13) for _ in range(99)]

    def action():
        limit(copies)
        del heap[:-1]  # memory that needs no mapping
        for source in sources:
            with refused(byre.CopyRefused, "vm.max_map_count"):
                byre.copy(source, lazy=True)
            with Counted() as counted:
                copy = byre.copy(source)
            assert (counted.lazy_copies, counted.bytes_copied) == (0, source.nbytes)
            source[0] = -1
            assert np.array_equal(copy, np.arange(1 << 13)) and np.array_equal(source[1:], copy[1:])
        assert np.array_equal(copies[0], np.arange(1 << 13))

    run_in_child(action)


def test_copies_are_right_if_the_system_hides_written_pages():
    copies = [ramp()]

    def action():
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))  # no descriptor for /proc/self/pagemap
        for number in range(3):
            copies.append(byre.copy(copies[0], lazy=True))
            copies[0][number * PART] = -1
        for number, copy in enumerate(copies[1:]):
            assert (copy == -1).nonzero()[0].tolist() == [PART * k for k in range(number)]

    run_in_child(action)


@pytest.mark.parametrize(
    "parts, available_nbytes, is_lazy",
    [(6, 1 << 40, True), (7, 1 << 40, False), (7, 2 * NBYTES, False), (7, 2 * NBYTES - 1, True)],
)
def test_copy_is_eager_if_a_tenth_was_written_and_memory_suffices(parts, available_nbytes, is_lazy, monkeypatch):
    source = ramp()
    byre.copy(source)
    source[: parts * PART] += 1
    monkeypatch.setattr(_blocks, "available_nbytes", lambda: available_nbytes)
    reason = "byre.copy is lazy" if is_lazy else "7 of 64 sampled pages were written since the last copy"
    assert byre.is_lazy(source) == is_lazy and reason in byre.explain(source)
    with Counted() as counted:
        byre.copy(source)
    monkeypatch.undo()
    assert counted.lazy_copies == is_lazy and byre.is_lazy(source)
    source += 1
    byre.copy(source[:9])  # says nothing of the block
    assert not byre.is_lazy(source)
    byre.copy(source, lazy=True)
    assert byre.is_lazy(source)


def test_copy_is_lazy_from_64_KiB_and_half_of_a_block_on():
    with byre.pages(min_nbytes=0):
        assert byre.is_lazy(np.zeros(1 << 16, "u1")) and not byre.is_lazy(np.zeros((1 << 16) - 1, "u1"))
    assert byre.is_lazy(ramp()[: N // 2]) and not byre.is_lazy(ramp()[: N // 2 - 1])


def test_fourth_lazy_copy_moves_a_block_to_huge_pages():
    source = ramp(4 * N)
    for number in range(4):
        wait_for_collapses()
        assert "in huge pages" not in byre.explain(source)
        source[number] = -1
        copy = byre.copy(source)
    wait_for_collapses()
    assert "in huge pages: byre.copy is lazy" in byre.explain(source)
    source[4] = copy[5] = -1
    assert np.array_equal(source, np.append([-1] * 5, np.arange(5, 4 * N)))
    assert np.array_equal(copy, np.append([-1] * 4 + [4, -1], np.arange(6, 4 * N)))


def test_mappings_that_blocks_leave_serve_the_rest_of_the_process():
    most_mappings = int(pathlib.Path("/proc/sys/vm/max_map_count").read_text())
    if most_mappings > 1 << 17:
        pytest.skip("the system allows more mappings than a test can use quickly")
    with byre.pages(min_nbytes=0):
        arrays = [np.full(3, number) for number in range(most_mappings // 2)]
        assert byre.memory().blocks < len(arrays)
        copies = byre.copy(arrays)
        thread = threading.Thread(target=lambda: byre.copy(arrays[0]))
        thread.start()
        thread.join()
    with refused(byre.CopyRefused, "no mapping", "vm.max_map_count"):
        byre.copy(arrays[0], lazy=True)
    arrays[0][:] = -1
    assert all((copy == number).all() for number, copy in enumerate(copies))


def test_copy_that_ends_frees_pages_that_the_source_wrote_over():
    gc.collect()
    source = ramp(4 * N)
    copy = byre.copy(source)
    source += 1
    files = [int(n) for n in os.listdir("/proc/self/fd") if "memfd:byre" in os.path.realpath(f"/proc/self/fd/{n}")]
    before = sum(os.fstat(file).st_blocks for file in files)
    del copy
    assert (before - sum(os.fstat(file).st_blocks for file in files)) * 512 >= source.nbytes
    assert np.array_equal(source, np.arange(1, 4 * N + 1))


@pytest.mark.parametrize("name", ["trace.txt", "trace.json"])
def test_recording_names_lines_of_python(name, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import byre, numpy as np\nx = byre.ones(1 << 17)\n\ny = byre.copy(x)\nz = byre.copy(np.ones(3))")
    subprocess.run([sys.executable, program], check=True, env={**os.environ, "BYRE_TRACE": name}, cwd=tmp_path)
    text = (tmp_path / name).read_text()
    assert "program.py:5" in text and (name == "trace.txt" or "program.py:4" in text)
