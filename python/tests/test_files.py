# SPDX-License-Identifier: BSL-1.0
"""Files of arrays, written by the one and read by the other: byre and NumPy."""
import json
import os
import pathlib
import struct
import threading
import zipfile

import byre
import numpy as np
import pytest
from support import refused, same

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64"]
READERS = [byre.load, byre.mmap]


def arrays_of_numpy():
    return {dtype: np.arange(6).reshape(2, 3).astype(dtype) for dtype in DTYPES}


@pytest.fixture
def copies():
    before = byre.stats()
    return lambda: (byre.stats() - before).copies


def is_mapped(array):
    return "mapped from a file" in byre.explain(array)


def write_safetensors(path, arrays, change=None):
    """A writer of the test's own; `change` of the header makes the file malformed."""
    names = {"bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64",
             "float16": "F16", "float32": "F32", "float64": "F64", "complex64": "C64"}
    header, data = {}, b""
    for name, array in arrays.items():
        end = len(data) + array.nbytes
        header[name] = {"dtype": names[str(array.dtype)], "shape": array.shape, "data_offsets": [len(data), end]}
        data += array.tobytes()
    text = json.dumps(header)
    if change:
        text, data = change(text, data)
    text = text.encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + size]), data[8 + size :]


# ---- read


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_of_numpy_is_read(read, dtype, tmp_path):
    theirs = np.arange(6).reshape(2, 3).astype(dtype)
    np.save(tmp_path / "array.npy", theirs)
    np.save(tmp_path / "fortran.npy", np.asfortranarray(theirs))
    assert same(read(tmp_path / "array.npy"), theirs)
    assert same(read(str(tmp_path / "fortran.npy")), theirs)
    assert same(read(os.fsencode(tmp_path / "array.npy")), theirs)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_of_numpy_are_read(read, save, tmp_path):
    theirs = arrays_of_numpy()
    save(tmp_path / "arrays.npz", **theirs)
    ours = read(tmp_path / "arrays.npz")
    assert list(ours) == list(theirs)
    assert all(same(ours[name], theirs[name]) for name in theirs)


@pytest.mark.parametrize("read", READERS)
def test_tensors_of_another_writer_are_read(read, tmp_path):
    theirs = arrays_of_numpy()
    write_safetensors(tmp_path / "model.safetensors", theirs)
    ours = read(tmp_path / "model.safetensors")
    assert list(ours) == list(theirs)
    assert all(same(ours[name], theirs[name]) for name in theirs)


def test_what_is_mapped_is_not_copied_and_the_file_stays(tmp_path, copies):
    for path in (tmp_path / "a.npz", tmp_path / "a.safetensors"):
        byre.save(path, {"a": byre.zeros(1000), "b": byre.zeros(3, "int16")})
        before, copied_before = path.read_bytes(), copies()
        model = byre.mmap(path)
        assert is_mapped(model["a"]) and is_mapped(model["b"])
        assert copies() == copied_before
        model["a"][5] = 7
        assert float(model["a"][5]) == 7
        assert path.read_bytes() == before
        assert float(byre.mmap(path)["a"][5]) == 0
        before_second = copies()
        assert not is_mapped(byre.load(path)["a"])
        assert copies() == before_second
    byre.save(tmp_path / "a.npy", byre.zeros(10))
    assert is_mapped(byre.mmap(tmp_path / "a.npy"))


def test_a_large_model_is_edited_by_pages(tmp_path, copies):
    path = tmp_path / "model.safetensors"
    byre.save(path, {"weights": byre.zeros((1000, 1000)), "bias": byre.zeros(1000)})
    model = byre.mmap(path)
    before = byre.stats()
    model["weights"][500, 500] = 1
    after = byre.stats() - before
    assert (after.copies, after.overlays) == (0, 1)
    with byre.no_copies():
        model["bias"][0] = 2
    assert float(byre.load(path)["weights"][500, 500]) == 0


def test_what_cannot_be_mapped_where_it_is_is_loaded(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", a=np.zeros(10))
    assert not is_mapped(byre.mmap(tmp_path / "a.npz")["a"])
    write_safetensors(tmp_path / "a.safetensors", {"odd": np.zeros(1, "uint8"), "a": np.ones(3)})
    model = byre.mmap(tmp_path / "a.safetensors")
    assert is_mapped(model["odd"]) and not is_mapped(model["a"])
    assert same(model["a"], np.ones(3))


LACKED = ["U16", "U32", "U64", "F8_E4M3", "F8_E5M2", "F4", "later", "\x1b"]


def rename_dtypes(names):
    """A change of write_safetensors(): dtypes take the names of others."""

    def change(text, data):
        header = json.loads(text)
        for name, dtype in names.items():
            header[name]["dtype"] = dtype
        return json.dumps({**header, "__metadata__": {"by": "others"}}), data

    return change


def test_arrays_whose_dtype_byre_lacks_are_named(tmp_path, capfd):
    path = tmp_path / "model.safetensors"
    names = {f"zwölf {dtype}": dtype for dtype in LACKED}
    arrays = {"first": np.arange(3), **{name: np.zeros(1, "uint8") for name in names}, "last": np.arange(2)}
    write_safetensors(path, arrays, rename_dtypes(names))
    for form in (path, str(path), os.fsencode(path)):
        assert list(byre.skipped(form).items()) == list(names.items())
    assert byre.metadata(path) == {"by": "others"}
    assert capfd.readouterr().err == ""
    for read in READERS:
        assert list(read(path)) == ["first", "last"]
        assert "byre.skipped(path) in Python" in capfd.readouterr().err


def test_a_file_whose_dtypes_byre_has_skips_nothing(tmp_path):
    write_safetensors(tmp_path / "model.safetensors", arrays_of_numpy())
    assert byre.skipped(tmp_path / "model.safetensors") == {}


# ---- written


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_reads_an_array(dtype, tmp_path):
    theirs = np.arange(6).reshape(2, 3).astype(dtype)
    byre.save(tmp_path / "array.npy", byre.array(theirs).T)
    assert np.array_equal(np.load(tmp_path / "array.npy"), theirs.T)


@pytest.mark.parametrize("compressed", [False, True])
def test_numpy_reads_arrays(compressed, tmp_path):
    theirs = arrays_of_numpy()
    byre.save(tmp_path / "a.npz", {name: byre.array(a) for name, a in theirs.items()}, compressed=compressed)
    ours = np.load(tmp_path / "a.npz")
    assert list(ours) == list(theirs)
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)
    kinds = {info.compress_type for info in zipfile.ZipFile(tmp_path / "a.npz").infolist()}
    assert kinds == {zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED}


def test_another_reader_reads_tensors(tmp_path):
    path = tmp_path / "model.safetensors"
    byre.save(path, {"w": byre.array([[1, 2]]), "b": byre.zeros(2, byre.bfloat16)}, metadata={"by": "byre"})
    header, data = read_safetensors(path)
    assert header["__metadata__"] == {"by": "byre"}
    assert header["w"]["dtype"] == "I64" and header["b"]["dtype"] == "BF16"
    begin, end = header["w"]["data_offsets"]
    assert np.frombuffer(data[begin:end], "int64").tolist() == [1, 2]
    assert byre.metadata(path) == {"by": "byre"}
    byre.save(path, {"w": byre.array(1)})
    assert byre.metadata(path) == {}


def test_arrays_of_numpy_and_lists_are_saved_too(tmp_path):
    byre.save(tmp_path / "a.npy", [1, 2])
    assert np.load(tmp_path / "a.npy").tolist() == [1, 2]
    byre.save(tmp_path / "a.npz", {"a": np.arange(3), "b": 2.5})
    assert same(byre.load(tmp_path / "a.npz")["a"], np.arange(3))


def test_a_file_is_replaced_by_arrays_that_are_mapped_from_it(tmp_path):
    for path in (tmp_path / "a.npz", tmp_path / "a.safetensors"):
        byre.save(path, {"a": byre.full(5, 1.5), "b": byre.full(5, 2.5)})
        model = byre.mmap(path)
        model["a"][0] = 9
        byre.save(path, model)
        assert same(byre.load(path)["a"], np.array([9, 1.5, 1.5, 1.5, 1.5]))
        assert same(model["b"], np.full(5, 2.5))


def test_what_is_written_meanwhile_is_not_saved(tmp_path):
    x = byre.zeros(3_000_000)
    errors = []

    def save():
        try:
            for number in range(5):
                byre.save(tmp_path / f"{number}.npy", x)
        except BaseException as error:
            errors.append(error)

    saver = threading.Thread(target=save)
    saver.start()
    number = 0
    while saver.is_alive():
        number += 1
        x[...] = number
    saver.join()
    assert not errors
    for number in range(5):
        saved = np.load(tmp_path / f"{number}.npy")
        assert (saved == saved[0]).all()


def test_names_of_any_kind_come_back(tmp_path):
    names = ["zwölf", "a/b", "", " ", "\N{SNOWMAN}"]
    for end in (".npz", ".safetensors"):
        byre.save(tmp_path / f"a{end}", {name: byre.zeros(1) for name in names})
        assert sorted(byre.load(tmp_path / f"a{end}")) == sorted(names)


def test_a_view_is_saved_without_the_rest_of_its_memory(copies):
    theirs = np.zeros(1_000_000)
    part = byre.from_numpy(theirs)[:2]
    before = byre.stats()
    path = "/dev/null"
    with byre.no_copies():
        with refused(byre.CopyRefused, "save would copy 16 bytes, which others may write"):
            byre.save(f"{path}.npy", part)
    part.copy(), part.reshape(2, 1)
    assert (byre.stats() - before).bytes_copied == 32


def test_a_file_whose_name_is_no_text_is_named_all_the_same():
    with refused(FileNotFoundError, "no such file"):
        byre.load("/tmp/\udcff.npy")
    long = "/tmp/" + "\N{LATIN SMALL LETTER E WITH ACUTE}" * 120 + ".safetensors"
    with refused(FileNotFoundError, "no such file"):
        byre.load(long)


# ---- refused


@pytest.mark.parametrize("read", [*READERS, byre.metadata, byre.skipped])
def test_a_file_that_is_not_there_is_refused(read, tmp_path):
    with refused(FileNotFoundError, "no such file", "Check the path"):
        read(tmp_path / "none.safetensors")
    with refused(byre.FileError, "no such file"):
        read(tmp_path / "none.safetensors")


def test_a_name_that_says_no_format_is_refused(tmp_path):
    for read in READERS:
        with refused(ValueError, "its name says no format", ".npy, .npz or .safetensors"):
            read(tmp_path / "array.bin")
    with refused(ValueError, "save of the file", "its name says no format"):
        byre.save(tmp_path / "array", byre.zeros(1))
    with refused(TypeError, "int"):
        byre.load(3)


def test_what_a_format_does_not_have_is_refused(tmp_path):
    with refused(ValueError, "compressed=True", "only .npz"):
        byre.save(tmp_path / "a.npy", byre.zeros(1), compressed=True)
    with refused(ValueError, "metadata", "only .safetensors"):
        byre.save(tmp_path / "a.npz", {}, metadata={"a": "b"})
    with refused(TypeError, "of many arrays", "dict of names and arrays"):
        byre.save(tmp_path / "a.npz", byre.zeros(1))
    with refused(TypeError, "the name of an array is of type int"):
        byre.save(tmp_path / "a.npz", {1: byre.zeros(1)})
    with refused(TypeError, "a key of the metadata is of type int"):
        byre.save(tmp_path / "a.safetensors", {}, metadata={1: "a"})
    with refused(TypeError, "metadata is of type int"):
        byre.save(tmp_path / "a.safetensors", {}, metadata={"a": 1})
    with refused(TypeError, "metadata of type list", "dict of str"):
        byre.save(tmp_path / "a.safetensors", {}, metadata=["a"])
    with refused(ValueError, "the name of an array has a character that UTF-8 has not"):
        byre.save(tmp_path / "a.npz", {"\ud800": byre.zeros(1)})
    with refused(TypeError, "bf16"):
        byre.save(tmp_path / "a.npy", byre.zeros(1, byre.bfloat16))
    assert list(tmp_path.iterdir()) == []


MALFORMED = {
    "header of 2^63": lambda text, data: None,
    "offsets past the end": lambda text, data: (text.replace('[3], "data_offsets": [24, 48]', '[4], "data_offsets": [24, 56]'), data),
    "a hole": lambda text, data: (text.replace("[24, 48]", "[32, 56]"), data + b"\0" * 8),
    "an alias": lambda text, data: (text.replace("[24, 48]", "[0, 24]"), data[:24]),
    "a key twice": lambda text, data: (text.replace('"b"', '"a"'), data),
    "sizes of another span": lambda text, data: (text.replace("[3]", "[2]", 1), data),
    "sizes that overflow": lambda text, data: (text.replace("[3]", "[4611686018427387904, 4]", 1), data),
    "bytes behind": lambda text, data: (text, data + b"\0"),
}


@pytest.mark.parametrize("read", [*READERS, byre.metadata, byre.skipped])
@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_models_are_refused(read, name, tmp_path):
    path = tmp_path / "model.safetensors"
    arrays = {"a": np.ones(3), "b": np.ones(3)}
    if name == "header of 2^63":
        write_safetensors(path, arrays)
        path.write_bytes(struct.pack("<Q", 1 << 63) + path.read_bytes()[8:])
    else:
        write_safetensors(path, arrays, MALFORMED[name])
    with refused(byre.FileError, "model.safetensors"):
        read(path)
    with refused(ValueError, "model.safetensors"):
        read(path)


@pytest.mark.parametrize("read", READERS)
def test_malformed_archives_are_refused(read, tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, a=np.zeros(3))
    whole = path.read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with refused(byre.FileError, "a.npz"):
            read(path)
    path.write_bytes(whole)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("readme.txt", "no array")
    with refused(ValueError, "readme.txt"):
        read(path)


@pytest.mark.parametrize("read", READERS)
def test_malformed_arrays_are_refused(read, tmp_path):
    path = tmp_path / "a.npy"
    path.write_bytes(b"no array at all")
    with refused(OSError, "a.npy", "NUMPY"):
        read(path)
    np.save(path, np.zeros(3, "uint32"))
    with refused(ValueError, "u4"):
        read(path)
