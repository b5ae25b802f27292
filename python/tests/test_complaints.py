# SPDX-License-Identifier: BSL-1.0
"""Complaints that were made of Python libraries, and what byre does: docs/answers.md says where each was made."""
import byre
import numpy as np
import pytest
from support import refused, same


@pytest.fixture
def copied():
    """How many bytes byre has copied since the test began."""
    before = byre.stats()
    return lambda: (byre.stats() - before).bytes_copied


def test_reads_through_numpy_and_buffers_copy_nothing_and_see_no_later_write(copied):
    x = byre.array([1, 2, 3])
    y = x.copy()
    seen = [y.numpy(), np.asarray(y), np.asarray(memoryview(y))]
    assert copied() == 0
    y[0] = 9
    assert copied() == x.nbytes
    assert all((one == [1, 2, 3]).all() for one in [x.numpy(), *seen])


def test_an_imported_writable_array_is_aliased_and_its_copy_is_not(copied):
    theirs = np.arange(3)
    alias = byre.from_numpy(theirs)
    assert copied() == 0
    copy = alias.copy()
    assert copied() == theirs.nbytes
    own = byre.array(theirs)
    theirs[0] = 9
    assert same(alias, [9, 1, 2])
    assert same(copy, [0, 1, 2])
    assert same(own, [0, 1, 2])


def test_a_capsule_that_was_taken_is_refused_the_second_time():
    x = byre.array([1, 2, 3])
    capsule = x.__dlpack__(max_version=(1, 0))
    taken = byre.from_dlpack(capsule)
    with refused(byre.InvalidArgument, "can be taken once"):
        byre.from_dlpack(capsule)
    assert same(taken, [1, 2, 3])


def test_mapped_weights_are_edited_and_the_file_stays_as_it_is(tmp_path, copied):
    path = tmp_path / "model.safetensors"
    byre.save(path, {"embedding": byre.full((1000, 1024), 1)})
    model = byre.mmap(path)
    copy = model["embedding"].copy()
    model["embedding"][7] += 1
    assert copied() == 0
    assert model["embedding"].numpy()[7, 0] == 2
    assert copy.numpy()[7, 0] == 1
    assert byre.load(path)["embedding"].numpy()[7, 0] == 1
