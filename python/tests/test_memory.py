# SPDX-License-Identifier: BSL-1.0
"""Tags, reports of memory, and the pool."""
import asyncio
import os
import subprocess
import sys
import threading

import byre
import numpy as np
import pytest
from support import N, ramp, refused, run_in_child

SUMS = ["allocated", "paged", "overlay", "adopted", "mapped"]


def bytes_of(name):
    """The nonzero sums of a tag."""
    tags = [entry for entry in byre.memory().report["tags"] if entry["name"] == name]
    assert len(tags) <= 1
    return {key: tag[key] for tag in tags for key in SUMS if tag[key]}


def test_arrays_have_the_tag_of_the_innermost_block():
    with byre.tag("outer"):
        x = ramp()
        with byre.tag("inner"), byre.pages(min_nbytes=0):
            y = np.zeros(2 * N)
        z = byre.ones(4 * N)
    assert bytes_of("outer") == {"paged": 5 * 8 * N} and bytes_of("inner") == {"paged": 2 * 8 * N}
    del x, y, z
    assert bytes_of("outer") == bytes_of("inner") == {}


def test_tag_holds_for_its_thread():
    with byre.tag("main"):
        thread = threading.Thread(target=lambda: arrays.append(byre.zeros(N)))
        arrays = []
        thread.start()
        thread.join()
    assert bytes_of("main") == {} and len(arrays) == 1


def test_tag_ends_with_an_exception():
    with pytest.raises(ZeroDivisionError), byre.tag("failing"):
        1 / 0
    x = byre.zeros(N)
    assert bytes_of("failing") == {} and x.size


def test_tags_of_interleaved_tasks_are_refused_and_end():
    async def allocate(name):
        with byre.tag(name):
            await asyncio.sleep(0)
            arrays.append(byre.zeros(N))

    async def interleave():
        return await asyncio.gather(allocate("first"), allocate("second"), return_exceptions=True)

    arrays = []
    failed, done = asyncio.run(interleave())
    assert isinstance(failed, byre.Error) and done is None
    assert "tag: the block of tag 'first' ended before a block that began later. Do not await" in str(failed)
    assert bytes_of("second") == {"paged": 2 * 8 * N} and len(arrays) == 2
    x = byre.zeros(N)
    assert bytes_of("first") == {} and bytes_of("second") == {"paged": 2 * 8 * N} and x.size
    with byre.tag("first"):
        y = byre.zeros(N)
    assert bytes_of("first") == {"paged": y.nbytes}


def test_error_of_a_block_of_interleaved_tasks_is_not_hidden():
    async def fail(name):
        with byre.tag(name):
            await asyncio.sleep(0)
            raise RuntimeError(name)

    async def interleave():
        return await asyncio.gather(fail("first"), fail("second"), return_exceptions=True)

    assert [repr(error) for error in asyncio.run(interleave())] == ["RuntimeError('first')", "RuntimeError('second')"]


def test_tag_that_ends_on_another_thread_is_refused():
    def end():
        with refused(byre.Error, "tag: the block of tag 'elsewhere' ended on another thread", "Do not await"):
            block.__exit__(None, None, None)
        arrays.append(byre.zeros(N))

    arrays = []
    with byre.tag("outer"):
        block = byre.tag("elsewhere")
        block.__enter__()
        thread = threading.Thread(target=end)
        thread.start()
        thread.join()
        arrays.append(byre.zeros(2 * N))
    arrays.append(byre.zeros(N))
    assert len(arrays) == 3 and bytes_of("elsewhere") == {"paged": 2 * 8 * N} and bytes_of("outer") == {}


def test_copies_have_the_tag_of_their_source_and_count_written_pages():
    with byre.tag("source"):
        x = ramp()
    with byre.tag("elsewhere"):
        y = byre.copy(x, lazy=True)
    x[0] = y[N // 2] = -1
    assert bytes_of("source") == {"paged": 8 * N, "overlay": 8192} and bytes_of("elsewhere") == {}


def test_mapped_files_have_a_tag(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(N))
    with byre.tag("file"):
        x = byre.mmap(tmp_path / "x.npy")
    assert bytes_of("file") == {"mapped": os.path.getsize(tmp_path / "x.npy")} and x.size


@pytest.mark.parametrize("name", ["", 3, None, b"bytes"])
def test_names_of_tags_are_strings_that_are_not_empty(name):
    with refused(byre.ArgumentError, "name", "Pass a"), byre.tag(name):
        pass


def test_report_sums_up_tags_and_is_also_a_text():
    with byre.tag("sums"):
        x = ramp()
    report = byre.memory().report
    for key in SUMS:
        assert sum(entry[key] for entry in report["tags"]) == report[key]
    assert report["total"] == sum(report[key] for key in [*SUMS, "idle", "overhead"])
    assert f"\nsums: {x.nbytes} bytes: 0 allocated, {x.nbytes} paged, " in byre.memory_summary()
    run_in_child(lambda: os._exit(bytes_of("sums") != {"paged": x.nbytes}))


POOL = """
import resource, byre
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # the system has no pages for arrays, so byre asks its pool
def idle():
    return byre.memory().report["idle"]
byre.zeros(1 << 20)
assert idle() == byre.memory().report["total"] - byre.memory().report["overhead"] == 8 << 20
byre.trim(keep_nbytes=8 << 20)
assert idle() == 8 << 20
byre.trim(keep_nbytes=(8 << 20) - 1)
assert idle() == 0
limit = byre.get_pool_limit()
assert limit >= 8 << 20
byre.set_pool_limit(123)
assert byre.get_pool_limit() == 123
byre.zeros(1 << 20)
assert idle() == 0
byre.set_pool_limit(limit)
byre.zeros(1 << 20)
byre.trim()
assert idle() == byre.memory().report["overhead"] == 0
byre.set_pool_limit(10**30)
"""


def test_pool_has_a_limit_and_is_trimmed():
    subprocess.run([sys.executable, "-c", POOL], check=True, timeout=60)


@pytest.mark.parametrize("call", [byre.trim, byre.set_pool_limit])
@pytest.mark.parametrize("nbytes", [-1, 1.5, "all", None])
def test_sizes_are_whole_numbers(call, nbytes):
    with refused(byre.ArgumentError, call.__name__, repr(nbytes), "Pass a whole number"):
        call(nbytes)
