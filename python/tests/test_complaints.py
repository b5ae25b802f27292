# SPDX-License-Identifier: BSL-1.0
"""Complaints that were made of Python libraries, and what byre does: docs/answers.md says where each was made."""
import byre
import numpy as np


def test_an_array_of_another_library_is_moved_and_never_aliased():
    theirs = np.arange(100_000)
    before = byre.stats()
    ours = byre.to_pages(theirs)
    copy = byre.copy(ours)
    theirs[0] = ours[1] = 9
    assert (byre.stats() - before).bytes_copied == 0
    assert ours[:3].tolist() == [0, 9, 2] and copy[:3].tolist() == [0, 1, 2]


def test_a_table_that_is_saved_in_training_copies_the_written_rows(tmp_path):
    table, saved = byre.zeros((10_000, 1024), "float32"), []
    before = byre.stats()
    for step in range(3):
        table[step * 7] = step + 1
        saved.append(byre.save_async(tmp_path / f"{step}.npy", byre.copy(table)))
        table[step * 7] = -1
    for step, future in enumerate(saved):
        future.result()
        assert (byre.mmap(tmp_path / f"{step}.npy")[step * 7] == step + 1).all()
    assert (byre.stats() - before).bytes_copied < table.nbytes // 100


def test_mapped_weights_are_edited_and_the_file_stays_as_it_is(tmp_path):
    path = tmp_path / "model.safetensors"
    byre.save(path, {"embedding": byre.full((1000, 1024), 1.0)})
    model = byre.mmap(path)
    before = byre.stats()
    copy = byre.copy(model)
    model["embedding"][7] += 1
    assert (byre.stats() - before).bytes_copied == 0
    assert [x["embedding"][7, 0] for x in (model, copy, byre.load(path))] == [2, 1, 1]
