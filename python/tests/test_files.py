# SPDX-License-Identifier: BSL-1.0
"""Files: what byre writes others read, and the reverse."""
import concurrent.futures
import io
import json
import os
import struct
import sys
import threading
import types
import warnings

import byre
import numpy as np
import pytest
from pytorch import needs_pytorch, torch
from support import N, ramp, refused, same

READERS = [byre.load, byre.mmap]
CODES = {"BOOL": "?", "U8": "u1", "I8": "i1", "U16": "u2", "I16": "i2", "U32": "u4", "I32": "i4", "U64": "u8"}
CODES.update({"I64": "i8", "F16": "f2", "F32": "f4", "F64": "f8", "C64": "c8"})
PIECE = 16 << 20
each_reader = pytest.mark.parametrize("read", READERS)
each_format = pytest.mark.parametrize("format", ["npy", "safetensors"])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.safetensors"


def write_safetensors(path, tensors):
    """A writer of the test's own, of {name: (code, shape, bytes)}."""
    header, data = {}, b""
    for name, (code, shape, raw) in tensors.items():
        header[name] = {"dtype": code, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    raw = path.read_bytes()
    (nbytes,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + nbytes])
    assert (8 + nbytes) % 64 == 0
    data = raw[8 + nbytes :]
    metadata = header.pop("__metadata__", None)
    return {name: (e["dtype"], e["shape"], data[slice(*e["data_offsets"])]) for name, e in header.items()}, metadata


def tensor_of(code):
    return code, [2, 3], NPY[code].tobytes()


def tree_of(x, format):
    return x if format == "npy" else {"x": x}


def array_of(x, format):
    return x if format == "npy" else x["x"]


NPY = {code: np.arange(6).reshape(2, 3).astype(dtype) for code, dtype in CODES.items()}
NPY |= {
    "fortran order": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "big-endian": np.arange(6, dtype=">i4"),
    "complex128": np.arange(6) * 1j,
    "strings": np.array(["a", "zwölf"]),
    "bytes": np.array([b"a", b"twelve"]),
    "dates": np.arange(3).astype("M8[D]"),
    "structured": np.array([(1, 2.5, "x")] * 3, [("a", "<i2"), ("b", ">f8"), ("c", "U3", (2,))]),
    "unicode field": np.ones(3, [("\N{SNOWMAN}", "f8")]),
    "no dimension": np.array(2.5),
    "no element": np.zeros((3, 0), "f4"),
    "no field": np.zeros(3, []),
    "large": np.arange(N),
    "every second": np.arange(24).reshape(4, 6)[::2],
    "backwards": np.arange(24).reshape(4, 6)[:, ::-1],
    "permuted axes": np.arange(24).reshape(2, 3, 4).transpose(1, 2, 0),
}


@pytest.mark.filterwarnings("ignore:Stored array in format")
@pytest.mark.parametrize("name", NPY)
def test_npy_file_of_either_is_read_by_the_other(name, tmp_path):
    array = NPY[name]
    np.save(tmp_path / "theirs.npy", array)
    byre.save(tmp_path / "ours.npy", array)
    assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "theirs.npy").read_bytes()
    for read, path in ((byre.load, tmp_path / "ours.npy"), (byre.mmap, os.fsencode(tmp_path / "ours.npy"))):
        found = read(path)
        assert same(found, array) and found.strides == np.load(path).strides and found.flags.writeable
    assert byre.is_lazy(byre.load(tmp_path / "ours.npy")) == (array.nbytes == 0 or name == "large")


def test_misaligned_data_are_mapped_as_aligned_copies(tmp_path, path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n"
    start = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header
    assert len(start) % 8
    (tmp_path / "a.npy").write_bytes(start + NPY["F64"].tobytes())
    write_safetensors(path, {"odd": ("U8", [1], b"\1"), "x": tensor_of("F64"), "y": tensor_of("C64")})
    found = {"npy": byre.mmap(tmp_path / "a.npy"), **byre.mmap(path)}
    assert same(found["npy"], NPY["F64"]) and same(found["x"], NPY["F64"]) and same(found["y"], NPY["C64"])
    assert all(array.flags.aligned and array.flags.writeable for array in found.values())


@each_format
def test_mapped_array_is_writable_and_its_file_stays(format, tmp_path):
    path = tmp_path / f"a.{format}"
    byre.save(path, tree_of(ramp(), format))
    before = path.read_bytes()
    x = array_of(byre.mmap(path), format)
    copy = byre.copy(x)
    x[5] = -1
    assert copy[5] == 5 and array_of(byre.mmap(path), format)[5] == 5 and path.read_bytes() == before
    byre.save(path, tree_of(x, format))
    assert array_of(byre.load(path), format)[5] == -1 and x[6] == 6 and copy[5] == 5


def test_saved_tensors_have_the_order_and_bytes_of_the_format(path):
    state = {"z": {code: NPY[code] for code in CODES}, "list": [1, (2.5, np.float32(3))], "a": NPY["big-endian"]}
    state["views"] = NPY["permuted axes"], NPY["backwards"]
    byre.save(path, state, metadata={"by": "zwölf"})
    tensors, metadata = read_safetensors(path)
    assert metadata == {"by": "zwölf"} == byre.metadata(path)
    order = "z.U64 list.0 views.0 views.1 z.I64 list.1.0 z.F64 z.C64 list.1.1 z.F32 z.U32 a z.I32 z.F16 z.U16 z.I16"
    assert list(tensors) == [*order.split(), "z.I8", "z.U8", "z.BOOL"]
    assert tensors["list.0"] == ("I64", [], struct.pack("<q", 1))
    assert tensors["a"] == ("I32", [6], np.arange(6, dtype="<i4").tobytes())
    assert tensors["views.0"] == ("I64", [3, 4, 2], NPY["permuted axes"].tobytes())
    assert tensors["views.1"] == ("I64", [4, 6], NPY["backwards"].tobytes())
    assert all(tensors[f"z.{code}"] == tensor_of(code) for code in CODES)
    byre.save(path, {})
    assert read_safetensors(path) == ({}, None) and byre.load(path) == {} and byre.metadata(path) == {}


@each_reader
def test_small_tensors_are_read_into_shared_blocks(read, path):
    arrays = {f"{n:05}": np.full(n % 60, n) for n in range(5000)}
    byre.save(path, {**arrays, "large": np.arange(N)})
    found = read(path)
    assert all(same(found[name], arrays[name]) for name in arrays)
    assert byre.is_lazy(found)
    found["00007"][:] = -1
    assert (found["00008"] == 8).all() and (found["00006"] == 6).all()


SPECIAL = {"BF16": ("bfloat16", 2), "F8_E4M3": ("float8_e4m3fn", 1), "F8_E5M2": ("float8_e5m2", 1)}


@each_reader
@pytest.mark.parametrize("library", [pytest.param("torch", marks=needs_pytorch), "ml_dtypes"])
@pytest.mark.parametrize("code", SPECIAL)
def test_dtypes_that_numpy_lacks_are_read_and_saved(code, library, read, path, monkeypatch):
    name, itemsize = SPECIAL[code]
    if library == "torch" and not hasattr(torch, name):
        pytest.skip(f"PyTorch has no {name}")
    if library == "ml_dtypes":
        monkeypatch.setitem(sys.modules, "torch", None)
        monkeypatch.setitem(sys.modules, "ml_dtypes", types.SimpleNamespace(**{name: f"V{itemsize}"}))  # stands in
    raw = bytes(range(6 * itemsize))
    write_safetensors(path, {"odd": ("U8", [1], b"\1"), "t": (code, [2, 3], raw)})
    found = read(path)["t"]
    assert found.shape == (2, 3)
    if library == "ml_dtypes":
        assert found.dtype == f"V{itemsize}" and found.tobytes() == raw
    else:
        assert found.dtype == getattr(torch, name)
        byre.save(path, {"t": found.T.contiguous().T})
        assert read_safetensors(path)[0] == {"t": (code, [2, 3], raw)}


@each_reader
def test_every_dtype_of_numpy_is_read_and_others_are_named(read, path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    lacked = {"t": ("BF16", [1], b"\0\0"), "\x1b": ("F99", [3], b"\0")}
    write_safetensors(path, {**lacked, **{code: tensor_of(code) for code in CODES}})
    words = r'skipped 2 of 15 .*"t" \(BF16\), "\x1b" \(F99\).*install PyTorch'
    with pytest.warns(byre.SkippedWarning, match=words) as warned:
        found = read(path)
    assert warned[0].filename == __file__
    assert list(found) == list(CODES) and all(same(found[code], NPY[code]) for code in CODES)
    with warnings.catch_warnings(), pytest.raises(byre.SkippedWarning):
        warnings.simplefilter("error")
        read(path)
    write_safetensors(path, lacked)
    with refused(byre.FileError, "skipped 2 of 2", "install PyTorch", "ml_dtypes"):
        read(path)


@needs_pytorch
def test_tensors_are_saved_with_their_elements(tmp_path, path):
    t = torch.arange(6).to(torch.complex64).reshape(2, 3)
    state = {"t": t.T, "conj": (t * 1j).conj(), "p": torch.nn.Parameter(torch.ones(2)), "none": torch.empty(0, 2)}
    byre.save(path, state)
    byre.save(tmp_path / "a.npy", t.T)
    found = {name: x.tolist() for name, x in byre.load(path).items()}
    assert found == {"t": t.T.tolist(), "conj": (t * -1j).tolist(), "p": [1, 1], "none": []}
    assert np.load(tmp_path / "a.npy").tolist() == t.T.tolist()


@each_format
def test_format_stands_in_for_a_known_ending(format, tmp_path):
    words = 'a.bin" does not end in .npy or .safetensors', 'Pass format="npy"', "np.load() within byre.pages()"
    for function in (byre.load, byre.mmap, byre.metadata, lambda path: byre.save(path, np.zeros(1))):
        with refused(ValueError, *words):
            function(tmp_path / "a.bin")
    with refused(TypeError, "format is 'zip'"):
        byre.load("a.npy", format="zip")
    path = tmp_path / ("a.safetensors" if format == "npy" else "a.npy")
    byre.save(path, tree_of(np.arange(3), format), format=format)
    for read in READERS:
        assert array_of(read(path, format=format), format).tolist() == [0, 1, 2]


try:
    from numpy.core._rational_tests import rational
except ImportError:
    rational = object  # .npy lacks both
SPARSE_TENSORS = [] if torch is None else [torch.eye(3).to_sparse(), torch.empty(3, device="meta")]
UNSAVED = [
    ("npy", {"a": np.zeros(1)}, {}, "type dict as .npy. Pass one array or tensor"),
    ("npy", np.array([{}]), {}, "has dtype object, which .npy lacks"),
    ("npy", np.zeros(3, rational), {}, f"has dtype {np.dtype(rational)}, which .npy lacks"),
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
    *(("safetensors", {"a": t}, {}, 'the tensor "a" is sparse') for t in SPARSE_TENSORS),
    *(("npy", t.to_dense().bfloat16(), {}, "dtype torch.bfloat16, which .npy lacks") for t in SPARSE_TENSORS[:1]),
]


@pytest.mark.parametrize("format, x, options, words", UNSAVED, ids=range(len(UNSAVED)))
def test_unsavable_argument_is_refused_and_leaves_no_file(format, x, options, words, tmp_path):
    for save in (byre.save, byre.save_async):
        with refused(byre.ArgumentError, "save: ", words):
            save(tmp_path / f"a.{format}", x, **options)
    assert list(tmp_path.iterdir()) == []


def npy_bytes(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_unreadable_files_are_refused_by_name(tmp_path, path):
    byre.save(path, {"a": np.ones(3), "b": np.ones(3)})
    npy, safetensors, pickle = npy_bytes(np.ones(30)), path.read_bytes(), npy_bytes(np.array([{}]))
    bad = [(".npy", raw) for raw in (b"no array at all", npy.replace(b"(30,)", b"(-1,)"), pickle)]
    bad += [(".npy", npy.replace(b"(30,)", b"(9999999999999,)")), (".safetensors", safetensors + b"\0")]
    bad += [(".safetensors", struct.pack("<Q", 1 << 63) + safetensors[8:])]
    bad += [(".safetensors", safetensors.replace(b'"b"', b'"a"'))]
    for suffix, raw in ((".npy", npy), (".safetensors", safetensors)):
        bad += [(suffix, raw[:n]) for n in (0, 5, len(raw) // 2, len(raw) - 1)]
    for suffix, raw in bad:
        (tmp_path / f"bad{suffix}").write_bytes(raw)
        for read in READERS:
            for kind in (byre.FileError, OSError, ValueError):
                with refused(kind, f"bad{suffix}", *["reads no pickles"] * (raw is pickle)):
                    read(tmp_path / f"bad{suffix}")
    for read in (*READERS, byre.metadata):
        for kind in (FileNotFoundError, byre.MissingFile, byre.FileError):
            with refused(kind, "missing.safetensors", "Check the path"):
                read(tmp_path / "missing.safetensors")
        with pytest.raises(IsADirectoryError):
            read(tmp_path, format="safetensors" if read is byre.metadata else "npy")


def test_file_that_shrinks_while_it_is_loaded_is_refused(path, monkeypatch):
    byre.save(path, {"a": np.ones(N)})
    parse = byre._byre.parse_safetensors_header
    monkeypatch.setattr(byre._byre, "parse_safetensors_header", lambda *x: (os.truncate(path, 8 * N), parse(*x))[1])
    with refused(byre.FileError, f'of the {8 * N} bytes of tensor "a"', "Load the file again"):
        byre.load(path)


@each_format
def test_async_save_reports_progress_by_pieces_and_completes(format, tmp_path):
    x, calls, main = np.arange(PIECE // 8 * 2 + 5), [], threading.current_thread()
    path = tmp_path / f"a.{format}"
    future = byre.save_async(
        path, tree_of(x, format), progress=lambda *call: calls.append((threading.current_thread(), *call))
    )
    assert isinstance(future, concurrent.futures.Future) and future.result() is None
    assert np.array_equal(array_of(byre.load(path), format), x)
    threads, done, totals = zip(*calls)
    assert main not in threads and len(set(threads)) == 1
    assert len(set(totals)) == 1 and done[-1] == totals[0] >= x.nbytes
    assert list(done) == sorted(done) and max(np.diff(done)) <= PIECE and len(done) >= 3


def test_async_save_has_the_values_of_the_copy_it_was_given(path):
    state = byre.to_pages({"x": np.zeros(PIECE // 4), "y": np.zeros(3)})
    started, written = threading.Event(), threading.Event()
    future = byre.save_async(path, byre.copy(state), progress=lambda *_: (started.set(), written.wait(60)))
    assert started.wait(60)
    state["x"][:] = 1
    state["y"][:] = 1
    assert not future.done() and not path.exists()
    written.set()
    future.result()
    assert all((array == 0).all() for array in byre.load(path).values())


@each_format
def test_error_cancels_the_save_and_is_the_futures(format, tmp_path):
    path, calls = tmp_path / f"a.{format}", []

    def progress(done, total):
        calls.append(done)
        if done >= PIECE:
            raise KeyError("enough")

    path.write_bytes(b"old")
    future = byre.save_async(path, tree_of(np.zeros(PIECE // 4), format), progress=progress)
    assert isinstance(future.exception(), KeyError)
    assert sum(done >= PIECE for done in calls) == 1
    missing = tmp_path / "missing" / path.name
    with pytest.raises(OSError):
        byre.save(missing, tree_of(np.zeros(3), format))
    assert isinstance(byre.save_async(missing, tree_of(np.zeros(3), format)).exception(), OSError)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_async_saves_to_one_path_leave_one_whole_file(tmp_path):
    path = tmp_path / "a.npy"
    for future in [byre.save_async(path, np.full(N, number)) for number in range(8)]:
        future.result()
    found = np.load(path)
    assert (found == found[0]).all() and list(tmp_path.iterdir()) == [path]
