# SPDX-License-Identifier: BSL-1.0
"""Files: byre and other programs read each other's files."""
import json
import os
import queue
import sys
import types
import warnings
from concurrent.futures import Future
from threading import Event, get_ident

import byre
import numpy as np
import pytest
from pytorch import needs_pytorch, torch
from support import N, copied, ramp, refused, same

READERS = [byre.load, byre.mmap]
CODES = {"BOOL": "?", "U8": "u1", "I8": "i1", "U16": "u2", "I16": "i2", "U32": "u4", "I32": "i4", "U64": "u8"}
CODES |= {"I64": "i8", "F16": "f2", "F32": "f4", "F64": "f8", "C64": "c8"}
PIECE = 16 << 20
each_reader = pytest.mark.parametrize("read", READERS)
each_format = pytest.mark.parametrize("format", ["npy", "safetensors"])
DTYPES = CODES | {"big-endian": ">i4", "complex128": "c16", "strings": "U3", "bytes": "S3", "dates": "M8[D]"}
NPY = {name: np.arange(6).reshape(2, 3).astype(dtype) for name, dtype in DTYPES.items()}
NPY |= {
    "fortran order": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "structured": np.array([(1, 2.5, "ö")] * 3, [("a", "<i2"), ("b", ">f8"), ("c", "U3", (2,))]),
    "unicode field": np.ones(3, [("\N{SNOWMAN}", "f8")]),
    "no dimension": np.array(2.5),
    "no element": np.zeros((3, 0), "f4"),
    "no field": np.zeros(3, []),
    "large": np.arange(N),
    "every second": np.arange(24).reshape(4, 6)[::2],
    "backwards": np.arange(24).reshape(4, 6)[:, ::-1],
    "permuted axes": np.arange(24).reshape(2, 3, 4).transpose(1, 2, 0),
}
TENSORS = {code: (code, [2, 3], NPY[code].tobytes()) for code in CODES}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.safetensors"


def write_safetensors(path, tensors):
    """Writes {name: (code, shape, bytes)} without byre."""
    header, data = {}, b""
    for name, (code, shape, raw) in tensors.items():
        header[name] = {"dtype": code, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def read_safetensors(path):
    raw = path.read_bytes()
    begin = 8 + int.from_bytes(raw[:8], "little")
    assert begin % 64 == 0
    header, data = json.loads(raw[8:begin]), raw[begin:]
    metadata = header.pop("__metadata__", None)
    return {name: (e["dtype"], e["shape"], data[slice(*e["data_offsets"])]) for name, e in header.items()}, metadata


def tree_of(x, format):
    return x if format == "npy" else {"x": x}


def array_of(x, format):
    return x if format == "npy" else x["x"]


@pytest.mark.filterwarnings("ignore:Stored array in format")
@pytest.mark.parametrize("name", NPY)
def test_npy_files_are_exchanged_with_numpy(name, tmp_path):
    array, ours, theirs = NPY[name], tmp_path / "ours.npy", tmp_path / "theirs.npy"
    np.save(theirs, array)
    byre.save(ours, array)
    assert ours.read_bytes() == theirs.read_bytes()
    ours.write_bytes(ours.read_bytes() + b"data of another program")
    for found in (byre.load(ours), byre.mmap(os.fsencode(ours))):
        assert same(found, array) and found.strides == np.load(ours).strides and found.flags.writeable
    assert byre.is_lazy(byre.load(ours)) == (array.nbytes == 0 or name == "large")


def test_misaligned_npy_file_is_mapped_as_an_aligned_copy(tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n"
    start = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header
    assert len(start) % 8
    (tmp_path / "a.npy").write_bytes(start + NPY["F64"].tobytes())
    found = byre.mmap(tmp_path / "a.npy")
    assert same(found, NPY["F64"]) and found.flags.aligned and found.flags.writeable


@each_format
def test_write_to_a_mapped_array_leaves_its_file_unchanged(format, tmp_path):
    path = tmp_path / f"a.{format}"
    byre.save(path, tree_of(ramp(), format))
    before = path.read_bytes()
    x = array_of(byre.mmap(path), format)
    with open("/proc/self/maps") as maps:
        assert str(path) in maps.read()
    copy, *counts = copied(x)
    x[5] = -1
    assert counts == [1, 0] and copy[5] == array_of(byre.mmap(path), format)[5] == 5 and path.read_bytes() == before
    x[6:] = x[6:].copy()
    assert byre.copy(x, lazy=True)[6] == 6  # copies the whole file lazily, although much was written
    byre.save(path, tree_of(x, format))
    assert array_of(byre.load(path), format)[5] == -1 and x[6] == 6 and copy[5] == 5


@each_format
def test_file_replaced_during_mmap_gives_its_old_contents(format, tmp_path, monkeypatch):
    path, other = tmp_path / f"a.{format}", tmp_path / f"b.{format}"
    byre.save(path, tree_of(np.arange(3), format))
    byre.save(other, tree_of(np.arange(9.0), format))
    map_file = byre._byre.map_file
    monkeypatch.setattr(byre._byre, "map_file", lambda name: (os.replace(other, path), map_file(name))[1])
    assert array_of(byre.mmap(path), format).tolist() == [0, 1, 2]


def test_saved_tensors_have_the_order_and_bytes_of_the_format(path):
    state = {"z": {code: NPY[code] for code in CODES}, "list": [1, (2.5, np.float32(3), np.True_)]}
    state |= {"a": NPY["big-endian"], "views": (NPY["permuted axes"], NPY["backwards"])}
    byre.save(path, state, metadata={"by": "zwölf"})
    tensors, metadata = read_safetensors(path)
    assert metadata == {"by": "zwölf"} == byre.metadata(path)
    order = "z.U64 list.0 views.0 views.1 z.I64 list.1.0 z.F64 z.C64 list.1.1 z.F32 z.U32 a z.I32 z.F16 z.U16 z.I16"
    assert list(tensors) == [*order.split(), "z.I8", "z.U8", "list.1.2", "z.BOOL"]
    assert tensors["list.0"] == ("I64", [], b"\1" + bytes(7))
    assert tensors["a"] == TENSORS["I32"]
    assert tensors["views.0"] == ("I64", [3, 4, 2], NPY["permuted axes"].tobytes())
    assert tensors["views.1"] == ("I64", [4, 6], NPY["backwards"].tobytes())
    assert all(tensors[f"z.{code}"] == TENSORS[code] for code in CODES)
    byre.save(path, {}, metadata={})
    assert read_safetensors(path) == ({}, None) and byre.load(path) == {} and byre.metadata(path) == {}


@each_reader
def test_small_tensors_are_read_into_shared_blocks(read, path):
    arrays = {f"{n:05}": np.full(n % 60, n) for n in range(5000)}
    byre.save(path, {**arrays, "large": np.arange(N)})
    found = read(path)
    assert all(same(found[name], arrays[name]) for name in arrays) and byre.is_lazy(found)
    found["00007"][:] = -1
    assert (found["00008"] == 8).all() and (found["00006"] == 6).all()


@each_reader
@pytest.mark.parametrize("code, name", [("BF16", "bfloat16"), ("F8_E4M3", "float8_e4m3fn"), ("F8_E5M2", "float8_e5m2")])
def test_dtypes_missing_in_numpy_come_from_pytorch_or_ml_dtypes(code, name, read, path, monkeypatch):
    itemsize = 2 if code == "BF16" else 1
    raw = bytes(range(6 * itemsize))
    write_safetensors(path, {"odd": ("U8", [1], b"\1"), "t": (code, [2, 3], raw)})
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "torch", types.SimpleNamespace())  # lacks the dtype
        patched.setitem(sys.modules, "ml_dtypes", types.SimpleNamespace(**{name: f"V{itemsize}"}))
        array = read(path)["t"]
    assert array.dtype == f"V{itemsize}" and array.shape == (2, 3) and array.tobytes() == raw
    if hasattr(torch, name):
        tensor = read(path)["t"]
        assert tensor.dtype == getattr(torch, name) and tensor.shape == (2, 3)
        byre.save(path, {"t": tensor.T.contiguous().T})
        assert read_safetensors(path)[0] == {"t": (code, [2, 3], raw)}


@each_reader
def test_numpy_dtypes_are_read_and_a_warning_names_all_others(read, path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    lacked = {"t": ("BF16", [1], b"\0\0"), "\x1b": ("F99", [3], b"\0")}
    write_safetensors(path, {**lacked, **TENSORS})
    words = r'skipped 2 of 15 .*"t" \(BF16\), "\x1b" \(F99\)\. .*install PyTorch'
    with pytest.warns(byre.SkippedWarning, match=words) as warned:
        found = read(path)
    assert warned[0].filename == __file__
    assert list(found) == list(CODES) and all(same(found[code], NPY[code]) for code in CODES)
    assert all(array.flags.aligned and array.flags.writeable for array in found.values())
    with warnings.catch_warnings(), pytest.raises(byre.SkippedWarning):
        warnings.simplefilter("error")
        read(path)
    write_safetensors(path, lacked)
    with refused(byre.FileError, "skipped 2 of 2", "install PyTorch", "ml_dtypes"):
        read(path)


@needs_pytorch
def test_saved_pytorch_tensors_load_with_equal_elements(tmp_path, path):
    t = torch.arange(6).to(torch.complex64).reshape(2, 3)
    state = {"t": t.T, "conj": (t * 1j).conj(), "neg": torch.tensor([2j]).conj().imag, "none": torch.empty(0, 2)}
    state["p"] = torch.nn.Parameter(torch.ones(2))
    byre.save(path, state)
    assert {name: x.tolist() for name, x in byre.load(path).items()} == {name: x.tolist() for name, x in state.items()}
    byre.save(tmp_path / "a.npy", torch.nn.Parameter(t.T))
    assert np.load(tmp_path / "a.npy").tolist() == t.T.tolist()


@each_format
def test_format_argument_overrides_the_file_ending(format, tmp_path):
    words = 'a.bin" does not end in .npy or .safetensors', 'Pass format="npy"', "np.load() within byre.pages()"
    for function in (*READERS, byre.metadata, lambda path: byre.save(path, np.zeros(1))):
        with refused(ValueError, *words):
            function(tmp_path / "a.bin")
    with refused(ValueError, '"npy" does not end in'):
        byre.load("npy")
    with refused(TypeError, "format is 'zip'"):
        byre.load("a.npy", format="zip")
    with refused(byre.ArgumentError, ".npy files have no metadata"):
        byre.metadata("a.npy")
    with refused(ValueError, r"the path 'a\x00.npy' contains a null"):
        byre.save("a\0.npy", np.zeros(1))
    path = tmp_path / ("a.safetensors" if format == "npy" else "a.npy")
    byre.save(path, tree_of(np.arange(3), format), format=format)
    assert all(array_of(read(path, format=format), format).tolist() == [0, 1, 2] for read in READERS)


SPARSE_TENSORS = [] if torch is None else [torch.eye(3).to_sparse(), torch.empty(3, device="meta")]
UNSAVED = [
    ("npy", {"a": np.zeros(1)}, {}, "type dict as .npy. Pass one array or tensor"),
    ("npy", [np.zeros(1)], {}, "type list as .npy. Pass one array or tensor"),
    ("npy", np.array([{}]), {}, "has dtype object, which .npy lacks"),
    ("npy", np.zeros(3, ("i4", {"low": ("i2", 0), "high": ("i2", 2)})), {}, "('high', '<i2')]), which .npy lacks"),
    ("npy", np.zeros(3, {"names": ["a", "b"], "formats": ["i4"] * 2, "offsets": [4, 0]}), {}, "which .npy lacks"),
    ("npy", np.zeros(1), {"metadata": {}}, ".npy files have no metadata"),
    ("safetensors", np.zeros(1), {}, "type ndarray as .safetensors. Pass a dict"),
    ("safetensors", {"a": {"b": [np.array([{}])]}}, {}, 'the array "a.b.0" has dtype object, which .safetensors lacks'),
    ("safetensors", {"a": np.zeros(1, "c16")}, {}, "has dtype complex128, which .safetensors lacks. Convert it to"),
    ("safetensors", {"a": {"b": None}}, {}, '"a.b" is of type NoneType. Pass arrays'),
    ("safetensors", {"a": {None: np.zeros(1)}}, {}, "key None is of type NoneType"),
    ("safetensors", {"a.b": 1, "a": {"b": 2}}, {}, 'the name "a.b" occurs twice'),
    ("safetensors", {"__metadata__": 1}, {}, "reserved"),
    ("safetensors", {"\ud800": 1}, {}, "not valid Unicode"),
    ("safetensors", {}, {"metadata": {"a": 1}}, "metadata has 1 of type int. Pass a str"),
    ("safetensors", {}, {"metadata": ["a"]}, "metadata is of type list"),
    ("safetensors", {}, {"metadata": {"a": "b" * 1000}}, "header has 1080 bytes; .safetensors allows 1000"),
    *(("safetensors", {"a": t}, {}, 'the tensor "a" is sparse') for t in SPARSE_TENSORS),
    *(("npy", t.to_dense().bfloat16(), {}, "dtype torch.bfloat16, which .npy lacks") for t in SPARSE_TENSORS[:1]),
]


@pytest.mark.parametrize("format, x, options, words", UNSAVED, ids=range(len(UNSAVED)))
def test_unsavable_argument_is_rejected_and_leaves_no_file(format, x, options, words, tmp_path, monkeypatch):
    monkeypatch.setattr(byre._safetensors, "_HEADER_MAX_NBYTES", 1000)
    for save in (byre.save, byre.save_async):
        with refused(byre.ArgumentError, "save: ", words):
            save(tmp_path / f"a.{format}", x, **options)
    assert list(tmp_path.iterdir()) == []


def test_errors_about_unreadable_files_name_the_file(tmp_path, path, monkeypatch):
    npy, pickle = tmp_path / "a.npy", tmp_path / "pickle.npy"
    np.save(npy, np.ones(30))
    np.save(pickle, np.array([{}]))
    byre.save(path, {"a": np.ones(3), "b": np.ones(3)})
    bad = [(npy, b"no array at all"), (pickle, pickle.read_bytes()), (path, path.read_bytes() + b"\0")]
    bad += [(npy, npy.read_bytes().replace(b"(30,)", shape)) for shape in (b"(-1,)", b"(9999999999999,)")]
    bad += [(path, path.read_bytes().replace(*change)) for change in ((b"\0{", b"\x80{"), (b'"b"', b'"a"'))]
    for file in (npy, path):
        bad += [(file, file.read_bytes()[:n]) for n in (0, 5, file.stat().st_size // 2, file.stat().st_size - 1)]
    for file, raw in bad:
        file.write_bytes(raw)
        for read in READERS:
            with refused(byre.FileError, file.name, *["reads no pickles"] * (file is pickle)):
                read(file)
    for read in (*READERS, byre.metadata):
        for kind in (byre.MissingFile, byre.FileError):
            with refused(kind, "missing.safetensors", "Check the path"):
                read(tmp_path / "missing.safetensors")
        with pytest.raises(IsADirectoryError):
            read(tmp_path, format="safetensors" if read is byre.metadata else "npy")
    byre.save(path, {})
    monkeypatch.setattr(sys, "byteorder", "big")
    for function in (*READERS, byre.metadata, lambda path: byre.save(path, {})):
        with refused(byre.FileError, "little-endian", "Use .npy"):
            function(path)


def test_file_that_shrinks_during_a_load_is_rejected(path, monkeypatch):
    byre.save(path, {"a": np.ones(N)})
    parse = byre._byre.parse_safetensors_header
    monkeypatch.setattr(byre._byre, "parse_safetensors_header", lambda *x: (os.truncate(path, 8 * N), parse(*x))[1])
    with refused(byre.FileError, f'of the {8 * N} bytes of tensor "a"', "Load the file again"):
        byre.load(path)


@each_format
def test_async_save_reports_progress_by_pieces_and_completes(format, tmp_path):
    path, x, calls = tmp_path / f"a.{format}", np.resize(np.arange(251, dtype="u1"), 2 * PIECE + 1), []
    future = byre.save_async(path, tree_of(x, format), progress=lambda *call: calls.append((get_ident(), *call)))
    assert isinstance(future, Future) and future.result() is None
    assert np.array_equal(array_of(byre.load(path), format), x)
    threads, done, totals = zip(*calls)
    assert get_ident() not in threads and len(set(threads)) == 1
    assert set(totals) == {done[-1]} == {x.nbytes if format == "npy" else path.stat().st_size}
    assert list(done) == sorted(done) and max(np.diff(done)) <= PIECE and len(done) >= 3


def test_async_save_of_a_copy_ignores_later_writes_to_the_source(path):
    state = byre.to_pages({"x": np.zeros(PIECE // 4), "y": np.zeros(3)})
    blocks, blocks_at_end = byre.memory().blocks, queue.SimpleQueue()
    started, written = Event(), Event()
    future = byre.save_async(path, byre.copy(state), progress=lambda *_: (started.set(), written.wait(60)))
    future.add_done_callback(lambda _: blocks_at_end.put(byre.memory().blocks))
    assert started.wait(60)
    before, state["x"][::100_000], state["y"][:] = byre.stats(), 1, 1  # copies the written pages alone
    assert (byre.stats() - before).bytes_copied <= 50 << 12 and future.running() and not path.exists()
    written.set()
    future.result()
    assert blocks_at_end.get(timeout=60) <= blocks
    assert all((array == 0).all() for array in byre.load(path).values())


@each_format
def test_error_cancels_an_async_save_and_is_set_in_its_future(format, tmp_path):
    path, x, calls = tmp_path / f"a.{format}", tree_of(np.zeros(3), format), []

    def progress(*call):
        calls.append(call)
        raise KeyboardInterrupt

    path.write_bytes(b"old")
    saved = byre.save_async(path, x, progress=progress)  # the error holds frames of the save
    assert isinstance(saved.exception(60), KeyboardInterrupt)
    assert len(calls) == 1
    missing = tmp_path / "missing" / path.name
    with pytest.raises(OSError):
        byre.save(missing, x)
    assert isinstance(byre.save_async(missing, x).exception(), OSError)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
