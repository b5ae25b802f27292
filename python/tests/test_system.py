# SPDX-License-Identifier: BSL-1.0
"""When byre.copy copies lazily, limits of the system, moves to huge pages in forks, and exits of the interpreter."""
import contextlib
import glob
import io
import itertools
import mmap
import os
import pathlib
import re
import resource
import subprocess
import sys
import threading

import byre
import numpy as np
import pytest
from support import N, copied, ramp, refused, run_in_child, wait_for_collapses

KIB = N // 128  # of ramp()
PART = N // 64  # elements of ramp() per page that byre samples


def use_all_mappings(kept):
    with contextlib.suppress(OSError):
        for number in itertools.count():
            kept.append(mmap.mmap(-1, 4096, prot=mmap.PROT_READ << number % 2))  # equal mappings would merge


@pytest.mark.parametrize("resource_name", ["mappings", "RLIMIT_AS", "RLIMIT_NOFILE"])
def test_copies_are_correct_without_resource(resource_name):
    is_lazy = resource_name == "RLIMIT_NOFILE"  # without descriptors, byre cannot read /proc/self/pagemap
    with byre.pages(min_nbytes=0):
        sources, kept = [ramp(1 << 13), ramp(1 << 13), np.arange(9.0)], []
    copies = [(byre.copy(sources[1]), np.arange(1 << 13))]
    heap = [np.empty(1 << 13) for _ in range(99)]

    def action():
        if resource_name == "mappings":
            use_all_mappings(kept)
        else:
            resource.setrlimit(getattr(resource, resource_name), (0, 0))
        del heap[:-1]  # frees memory that needs no mapping
        for number, source in enumerate(sources[: 3 - is_lazy] * 3):
            with contextlib.nullcontext() if is_lazy else refused(byre.CopyRefused, "vm.max_map_count"):
                kept.append(byre.copy(source, lazy=True))
            copy, *counts = copied(source, lazy=is_lazy or None)
            assert is_lazy or counts == [0, source.nbytes]
            copies.append((copy, np.copy(source)))
            source[number] = -1
            assert all(np.array_equal(copy, expected) for copy, expected in copies)

    run_in_child(action)


WRITTEN = [  # parts, available KiB, bytes that the control group allows, whether the next copy is lazy
    *((6, 1 << 40, "max", True), (7, 1 << 40, "max", False)),
    *((7, 2 * KIB, "max", False), (7, 2 * KIB - 1, "max", True)),
    *((7, 1 << 40, 16 * N + 5, False), (7, 1 << 40, 16 * N + 4, True)),
    (7, None, None, False),  # the files are missing
]


@pytest.mark.parametrize("parts, kib, group_nbytes, is_lazy", WRITTEN)
def test_copy_is_immediate_if_a_tenth_was_written_and_memory_is_free(parts, kib, group_nbytes, is_lazy, monkeypatch):
    texts = {"/proc/meminfo": f"MemTotal: 1 kB\nMemAvailable: {kib} kB"}
    texts |= {"/sys/fs/cgroup/memory.max": f"{group_nbytes}", "/sys/fs/cgroup/memory.current": "5"}
    source = ramp()
    byre.copy(source)
    source[: parts * PART] += 1
    monkeypatch.setattr("byre._blocks.open", lambda path: io.StringIO(texts[path]) if kib else open(""), raising=False)
    reason = "is lazy" if is_lazy else "copies immediately, since 7 of 64 sampled pages were written since the last copy"
    assert byre.is_lazy(source) == is_lazy and f": byre.copy {reason}" in byre.explain(source)
    assert copied(source)[1] == is_lazy
    monkeypatch.undo()
    assert byre.is_lazy(source)
    source += 1
    byre.copy(source[:9])  # too small to represent the block
    assert not byre.is_lazy(source)
    byre.copy(source, lazy=True)
    assert byre.is_lazy(source)


def test_copy_is_lazy_for_at_least_64_kib_and_half_of_a_block():
    with byre.pages(min_nbytes=0):
        assert byre.is_lazy(np.zeros(1 << 16, "u1")) and not byre.is_lazy(np.zeros((1 << 16) - 1, "u1"))
    assert byre.is_lazy(ramp()[: N // 2]) and not byre.is_lazy(ramp()[: N // 2 - 1])
    x = byre.zeros(1 << 16, "u1")
    for at in (0, 63):  # lines of 64 bytes count as a whole
        assert byre.is_lazy([x[n : n + 1] for n in range(at, 1 << 16, 64)])
    assert not byre.is_lazy([x[n : n + 1] for n in range(1000)])


def huge_nbytes():
    text = pathlib.Path("/proc/self/smaps").read_text()
    return sum(int(kib) for kib in re.findall(r"ShmemPmdMapped: *(\d+)", text)) << 10


def test_fourth_lazy_copy_moves_a_block_to_huge_pages():
    source, before = byre.zeros(4 * N), huge_nbytes()
    source[:] = np.arange(4 * N)
    present = byre.ones(4 * N)
    has_huge_pages = huge_nbytes() > before
    del present
    for number in range(4):
        wait_for_collapses()
        assert "in huge pages" not in byre.explain(source)
        source[number] = -1
        copy = byre.copy(source)
    wait_for_collapses()
    assert "in huge pages: byre.copy is lazy" in byre.explain(source)
    assert not has_huge_pages or huge_nbytes() >= before + source.nbytes // 2
    source[4] = copy[5] = -1
    assert np.array_equal(source, np.append([-1] * 5, np.arange(5, 4 * N)))
    assert np.array_equal(copy, np.append([-1] * 4 + [4, -1], np.arange(6, 4 * N)))


def test_pages_of_zeros_get_memory_at_first_touch():
    def file_nbytes():
        files = [path for path in glob.glob("/proc/self/fd/*") if "memfd:byre" in os.path.realpath(path)]
        return sum(os.stat(path).st_blocks for path in files) * 512

    before = file_nbytes()
    zeros = byre.zeros(8 * N)
    assert file_nbytes() == before
    zeros[0], empty = 1, byre.empty(8 * N)
    assert file_nbytes() >= before + empty.nbytes + mmap.PAGESIZE


def test_blocks_leave_some_mappings_to_the_rest_of_the_process():
    most_mappings = int(pathlib.Path("/proc/sys/vm/max_map_count").read_text())
    if most_mappings > 1 << 17:
        pytest.skip("the system allows more mappings than a test can use quickly")
    with byre.pages(min_nbytes=0):
        arrays = [np.full(3, number) for number in range(most_mappings // 2)]
        assert byre.memory().blocks < len(arrays)
        copies = byre.copy(arrays)
        threading.Thread(target=byre.copy, args=arrays[:1]).start()
    with refused(byre.CopyRefused, "no mapping", "vm.max_map_count"):
        byre.copy(arrays[0], lazy=True)
    arrays[0][:] = -1
    assert all((copy == number).all() for number, copy in enumerate(copies))


@pytest.mark.parametrize("name", ["trace.txt", "trace.json"])
def test_trace_names_the_python_lines_that_copied(name, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import byre, numpy as np\nx = byre.ones(9999)\n\ny = byre.copy(x)\nz = byre.copy(np.ones(3))")
    subprocess.run([sys.executable, program], check=True, env={**os.environ, "BYRE_TRACE": name}, cwd=tmp_path)
    text = (tmp_path / name).read_text()
    assert "program.py:5" in text and (name == "trace.txt" or "program.py:4" in text)


def test_child_frees_a_block_that_its_parent_was_collapsing():
    before = byre.stats().live_bytes

    def action():
        arrays[0][9] = arrays[-1][9] = -1
        assert all(x[8:11].tolist() == [8, -1, 10] for x in (arrays[0], arrays[-1])) and arrays[1][9] == 9
        assert np.array_equal(byre.copy(arrays[0], lazy=True)[10:], np.arange(10, 32 * N))
        arrays.clear()
        os._exit(byre.stats().live_bytes != before)

    for _ in range(10):
        arrays = [ramp(32 * N)]
        arrays += [byre.copy(arrays[0], lazy=True) for _ in range(4)]
        run_in_child(action)
        wait_for_collapses()
        assert all(np.array_equal(x, np.arange(32 * N)) for x in (arrays[0], arrays[-1]))


START = "import sys, threading, byre, numpy as np\nx = byre.ones(1 << 19)\n"
PROGRAMS = {
    "daemon_threads": """
ready = threading.Barrier(4)
def work(name):
    ready.wait()
    while True:
        y = byre.copy(x.view(np.matrix), lazy=True)
        y[:] = 1
        byre.save(name, y)
        byre.mmap(name)[:] = 1
for number in range(3):
    threading.Thread(target=work, args=(f"{number}.npy",), daemon=True).start()
ready.wait()
for _ in range(1000):
    byre.copy(x)
""",
    "arrays": "sys.kept = [x, byre.copy(x)]; cycle = [byre.copy(x)]; cycle.append(cycle)",
    "a_collapse": "x = byre.ones(1 << 23)\ncopies = [byre.copy(x, lazy=True) for _ in range(4)]",
    "a_save": "byre.save_async('saved.npy', byre.copy(x)); x[:] = 2; del x",
    "finalizers": """
import gc
class Seen:
    def __init__(self):
        self.itself = self
    def __del__(self):
        byre.memory()
gc.set_threshold(1)
for _ in range(99):
    Seen()
    byre.explain(byre.copy(x))
""",
    "no_caller": """
import _thread
done = threading.Event()
signal = type("Signal", (), {"__deepcopy__": lambda self, memo: done.set()})()
_thread.start_new_thread(byre.copy, ([x, signal],))
assert done.wait(60)
""",
    "code_of_any_path": "exec(compile('byre.copy(x), byre.copy(np.ones(3)), byre.explain(x)', '\\udcff.py', 'exec'))",
    "no_import_of_pytorch": "byre.copy([x]); byre.to_pages([1]); assert 'torch' not in sys.modules",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_interpreter_exits_without_errors_after_program(name, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(START + PROGRAMS[name])
    ended = subprocess.run([sys.executable, program], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert name != "a_save" or np.array_equal(np.load(tmp_path / "saved.npy"), np.ones(1 << 19))


@pytest.mark.parametrize("first", ["", "import byre\n"], ids=["first", "after_the_main_interpreter"])
def test_import_in_a_subinterpreter_is_rejected(first):
    pytest.importorskip("_xxsubinterpreters")
    program = "import _xxsubinterpreters as s\ns.run_string(s.create(), 'import byre')"
    ended = subprocess.run([sys.executable, "-c", first + program], capture_output=True, text=True, timeout=60)
    assert "ImportError" in ended.stderr and "byre cannot be imported in a subinterpreter" in ended.stderr
