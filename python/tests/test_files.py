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


def write_safetensors(path, tensors, change=lambda text: text):
    """A writer of the test's own, of {name: (code, shape, bytes)}. `change` makes the header malformed."""
    header, data = {}, b""
    for name, (code, shape, raw) in tensors.items():
        header[name] = {"dtype": code, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = change(json.dumps(header)).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    raw = path.read_bytes()
    (nbytes,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + nbytes])
    assert (8 + nbytes) % 64 == 0
    data = raw[8 + nbytes :]
    metadata = header.pop("__metadata__", None)
    return {name: (e["dtype"], e["shape"], data[slice(*e["data_offsets"])]) for name, e in header.items()}, metadata


def tensor_of(code, shape=(2, 3)):
    array = np.arange(6).reshape(2, 3).astype(CODES[code])
    return code, list(shape), array.tobytes()


# ---- .npy


NPY = {code: np.arange(6).reshape(2, 3).astype(dtype) for code, dtype in CODES.items()}
NPY.update(
    {
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
    }
)


@pytest.mark.filterwarnings("ignore:Stored array in format")
@pytest.mark.parametrize("name", NPY)
def test_npy_file_of_either_is_read_by_the_other(name, tmp_path):
    array = NPY[name]
    np.save(tmp_path / "theirs.npy", array)
    byre.save(tmp_path / "ours.npy", array)
    assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "theirs.npy").read_bytes()
    for read in READERS:
        for path in (tmp_path / "ours.npy", os.fsencode(tmp_path / "ours.npy")):
            found = read(path)
            assert same(found, array) and found.strides == np.load(path).strides
            assert found.flags.writeable
    assert byre.is_lazy(byre.load(tmp_path / "ours.npy")) == (array.nbytes == 0 or name == "large")


def test_misaligned_npy_file_is_mapped_as_an_aligned_copy(tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n"
    start = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header
    assert len(start) % 8
    (tmp_path / "a.npy").write_bytes(start + np.arange(3.0).tobytes())
    found = byre.mmap(tmp_path / "a.npy")
    assert same(found, np.arange(3.0)) and found.flags.aligned


@pytest.mark.parametrize("view", [lambda x: x[::2], lambda x: x[:, ::-1], lambda x: x.transpose(1, 2, 0)])
def test_views_are_saved_by_their_elements(view, tmp_path):
    x = np.arange(24).reshape(2, 3, 4)
    byre.save(tmp_path / "a.npy", view(x))
    byre.save(tmp_path / "a.safetensors", {"a": view(x)})
    assert np.array_equal(np.load(tmp_path / "a.npy"), view(x))
    assert np.array_equal(byre.load(tmp_path / "a.safetensors")["a"], view(x))


def test_mapped_array_is_writable_and_its_file_stays(tmp_path):
    byre.save(tmp_path / "a.npy", ramp())
    byre.save(tmp_path / "a.safetensors", {"a": ramp()})
    for path, get in ((tmp_path / "a.npy", lambda x: x), (tmp_path / "a.safetensors", lambda x: x["a"])):
        before = path.read_bytes()
        x = get(byre.mmap(path))
        copy = byre.copy(x)
        x[5] = -1
        assert copy[5] == 5 and get(byre.mmap(path))[5] == 5 and path.read_bytes() == before
        byre.save(path, x if path.suffix == ".npy" else {"a": x})
        assert get(byre.load(path))[5] == -1 and x[6] == 6 and copy[5] == 5


# ---- .safetensors


@pytest.mark.parametrize("read", READERS)
def test_every_dtype_of_numpy_is_read(read, tmp_path):
    write_safetensors(tmp_path / "a.safetensors", {code: tensor_of(code) for code in CODES})
    found = read(tmp_path / "a.safetensors")
    assert list(found) == list(CODES)
    assert all(same(found[code], NPY[code]) for code in CODES)


def test_saved_tensors_have_the_order_and_bytes_of_the_format(tmp_path):
    path = tmp_path / "a.safetensors"
    state = {"z": {code: NPY[code] for code in CODES}, "list": [1, (2.5, np.float32(3))], "a": NPY["big-endian"]}
    byre.save(path, state, metadata={"by": "zwölf"})
    tensors, metadata = read_safetensors(path)
    assert metadata == {"by": "zwölf"} == byre.metadata(path)
    order = ["z.U64", "list.0", "z.I64", "list.1.0", "z.F64", "z.C64", "list.1.1", "z.F32", "z.U32", "a", "z.I32"]
    order += ["z.F16", "z.U16", "z.I16", "z.I8", "z.U8", "z.BOOL"]
    assert list(tensors) == order
    assert tensors["list.0"] == ("I64", [], struct.pack("<q", 1))
    assert tensors["a"] == ("I32", [6], np.arange(6, dtype="<i4").tobytes())
    assert all(tensors[f"z.{code}"] == tensor_of(code) for code in CODES)
    byre.save(path, {})
    assert read_safetensors(path) == ({}, None) and byre.load(path) == {} and byre.metadata(path) == {}


def test_many_small_tensors_are_loaded_into_shared_blocks(tmp_path):
    path = tmp_path / "a.safetensors"
    arrays = {f"{n:05}": np.full(n % 60, n) for n in range(5000)}
    byre.save(path, {**arrays, "large": np.arange(N)})
    for read in READERS:
        found = read(path)
        assert all(same(found[name], arrays[name]) for name in arrays)
        assert byre.is_lazy(found)
        found["00007"][:] = -1
        assert (found["00008"] == 8).all() and (found["00006"] == 6).all()


def test_misaligned_tensors_are_mapped_as_aligned_copies(tmp_path):
    path = tmp_path / "a.safetensors"
    write_safetensors(path, {"odd": ("U8", [1], b"\1"), "x": tensor_of("F64"), "y": tensor_of("C64")})
    found = byre.mmap(path)
    assert same(found["x"], NPY["F64"]) and same(found["y"], NPY["C64"])
    assert all(array.flags.aligned and array.flags.writeable for array in found.values())


SPECIAL = {"BF16": ("bfloat16", 2), "F8_E4M3": ("float8_e4m3fn", 1), "F8_E5M2": ("float8_e5m2", 1)}


@needs_pytorch
@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("code", SPECIAL)
def test_dtypes_of_pytorch_give_tensors_and_are_saved(code, read, tmp_path):
    name, itemsize = SPECIAL[code]
    if not hasattr(torch, name):
        pytest.skip(f"PyTorch has no {name}")
    raw = bytes(range(6 * itemsize))
    write_safetensors(tmp_path / "a.safetensors", {"odd": ("U8", [1], b"\1"), "t": (code, [2, 3], raw)})
    t = read(tmp_path / "a.safetensors")["t"]
    assert t.dtype == getattr(torch, name) and t.shape == (2, 3)
    byre.save(tmp_path / "b.safetensors", {"t": t.T.contiguous().T})
    assert read_safetensors(tmp_path / "b.safetensors")[0] == {"t": (code, [2, 3], raw)}


@pytest.mark.parametrize("code", SPECIAL)
def test_dtypes_of_ml_dtypes_serve_without_pytorch(code, tmp_path, monkeypatch):
    name, itemsize = SPECIAL[code]
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "ml_dtypes", types.SimpleNamespace(**{name: f"V{itemsize}"}))  # stands in
    raw = bytes(range(6 * itemsize))
    write_safetensors(tmp_path / "a.safetensors", {"t": (code, [2, 3], raw)})
    found = byre.load(tmp_path / "a.safetensors")["t"]
    assert found.dtype == f"V{itemsize}" and found.shape == (2, 3) and found.tobytes() == raw


@pytest.mark.parametrize("read", READERS)
def test_tensors_of_unsupported_dtype_are_named_and_others_read(read, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    path = tmp_path / "a.safetensors"
    lacked = {"t": ("BF16", [1], b"\0\0"), "\x1b": ("F99", [3], b"\0")}
    write_safetensors(path, {"a": tensor_of("U8"), **lacked, "b": tensor_of("I8")})
    words = r'skipped 2 of 4 .*"t" \(BF16\), "\x1b" \(F99\).*install PyTorch'
    with pytest.warns(byre.SkippedWarning, match=words) as warned:
        found = read(path)
    assert warned[0].filename == __file__
    assert list(found) == ["a", "b"] and same(found["b"], NPY["I8"])
    with warnings.catch_warnings(), pytest.raises(byre.SkippedWarning):
        warnings.simplefilter("error")
        read(path)
    write_safetensors(path, lacked)
    with refused(byre.FileError, "skipped 2 of 2", "install PyTorch", "ml_dtypes"):
        read(path)


@needs_pytorch
def test_tensors_are_saved_with_their_elements(tmp_path):
    t = torch.arange(6).to(torch.complex64).reshape(2, 3)
    state = {"t": t.T, "conj": (t * 1j).conj(), "p": torch.nn.Parameter(torch.ones(2)), "none": torch.empty(0, 2)}
    byre.save(tmp_path / "a.safetensors", state)
    found = byre.load(tmp_path / "a.safetensors")
    assert found["t"].tolist() == t.T.tolist() and found["conj"].tolist() == (t * -1j).tolist()
    assert found["p"].tolist() == [1, 1] and found["none"].shape == (0, 2)
    byre.save(tmp_path / "a.npy", t.T)
    assert np.load(tmp_path / "a.npy").tolist() == t.T.tolist()


# ---- refused


def test_names_without_a_known_ending_need_a_format(tmp_path):
    for function in (byre.load, byre.mmap, byre.metadata, lambda path: byre.save(path, np.zeros(1))):
        with refused(ValueError, 'a.bin" does not end in .npy or .safetensors', 'Pass format="npy"', "np.load() within byre.pages()"):
            function(tmp_path / "a.bin")
    with refused(TypeError, "format is 'zip'"):
        byre.load("a.npy", format="zip")
    byre.save(tmp_path / "npy", np.arange(3), format="npy")
    byre.save(tmp_path / "a.npy", {"x": np.arange(3)}, format="safetensors")
    assert byre.load(tmp_path / "npy", format="npy").tolist() == [0, 1, 2]
    assert byre.mmap(tmp_path / "a.npy", format="safetensors")["x"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("read", [*READERS, byre.metadata])
def test_missing_file_is_refused(read, tmp_path):
    for kind in (FileNotFoundError, byre.MissingFile, byre.FileError):
        with refused(kind, "missing.safetensors", "Check the path"):
            read(tmp_path / "missing.safetensors")


UNSAVED = [
    ("npy", {"a": np.zeros(1)}, {}, "type dict as .npy. Pass one array or tensor"),
    ("npy", np.array([{}]), {}, "has dtype object, which .npy lacks"),
    ("safetensors", {"a": {"b": [np.array([{}])]}}, {}, 'the array "a.b.0" has dtype object, which .safetensors lacks'),
    ("safetensors", {"a": np.zeros(1, "c16")}, {}, "has dtype complex128, which .safetensors lacks. Convert it to"),
    ("safetensors", {"a": {"b": None}}, {}, '"a.b" is of type NoneType. Pass arrays'),
    ("safetensors", {"a": {None: np.zeros(1)}}, {}, "key None is of type NoneType"),
    ("safetensors", {"a.b": 1, "a": {"b": 2}}, {}, 'the name "a.b" occurs twice'),
    ("safetensors", {"__metadata__": 1}, {}, "reserved"),
    ("safetensors", {"\ud800": 1}, {}, "not valid Unicode"),
    ("safetensors", {}, {"metadata": {"a": 1}}, "metadata has 1 of type int. Pass a str"),
    ("safetensors", {}, {"metadata": ["a"]}, "metadata is of type list"),
]


@pytest.mark.parametrize("format, x, options, words", UNSAVED, ids=range(len(UNSAVED)))
def test_unsavable_argument_is_refused_and_leaves_no_file(format, x, options, words, tmp_path):
    for save in (byre.save, byre.save_async):
        with refused(byre.ArgumentError, "save: ", words):
            save(tmp_path / f"a.{format}", x, **options)
    assert list(tmp_path.iterdir()) == []


@needs_pytorch
def test_unsavable_tensor_is_refused(tmp_path):
    for t in (torch.eye(3).to_sparse(), torch.empty(3, device="meta")):
        with refused(TypeError, 'the tensor "a" is sparse', "to_dense()"):
            byre.save(tmp_path / "a.safetensors", {"a": t})
    with refused(TypeError, "dtype torch.bfloat16, which .npy lacks", ".safetensors"):
        byre.save(tmp_path / "a.npy", torch.ones(3, dtype=torch.bfloat16))


def cut(raw):
    return [raw[:n] for n in (0, 5, len(raw) // 2, len(raw) - 1)]


def npy_bytes(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_malformed_files_are_refused_by_name(tmp_path):
    byre.save(tmp_path / "a.safetensors", {"a": np.ones(3), "b": np.ones(3)})
    good = {path.suffix: path.read_bytes() for path in tmp_path.iterdir()}
    good[".npy"] = npy_bytes(np.ones(30))
    bad = {suffix: cut(raw) for suffix, raw in good.items()}
    bad[".npy"] += [npy_bytes(np.array([{}])), b"no array at all", good[".npy"].replace(b"(30,)", b"(-1,)")]
    bad[".npy"] += [good[".npy"].replace(b"(30,)", b"(9999999999999,)")]
    bad[".safetensors"] += [good[".safetensors"] + b"\0", struct.pack("<Q", 1 << 63) + good[".safetensors"][8:]]
    bad[".safetensors"] += [good[".safetensors"].replace(b'"b"', b'"a"')]
    for suffix, raws in bad.items():
        path = tmp_path / f"bad{suffix}"
        for raw in raws:
            path.write_bytes(raw)
            for read in READERS:
                for kind in (byre.FileError, OSError, ValueError):
                    with refused(kind, f"bad{suffix}"):
                        read(path)
    (tmp_path / "a.npy").write_bytes(npy_bytes(np.array([{}])))
    with refused(byre.FileError, "a.npy", "reads no pickles"):
        byre.mmap(tmp_path / "a.npy")


def test_file_that_shrinks_while_it_is_loaded_is_refused(tmp_path, monkeypatch):
    byre.save(tmp_path / "a.safetensors", {"a": np.ones(N)})
    parse = byre._byre.parse_safetensors_header

    def parse_and_cut(*arguments):
        os.truncate(tmp_path / "a.safetensors", 8 * N)
        return parse(*arguments)

    monkeypatch.setattr(byre._byre, "parse_safetensors_header", parse_and_cut)
    with refused(byre.FileError, f'of the {8 * N} bytes of tensor "a"', "Load the file again"):
        byre.load(tmp_path / "a.safetensors")


def test_error_of_the_system_is_raised_as_it_is(tmp_path):
    for read in READERS:
        with pytest.raises(IsADirectoryError):
            read(tmp_path, format="npy")


def test_dtype_that_npy_cannot_name_is_refused(tmp_path):
    rational = pytest.importorskip("numpy.core._rational_tests").rational
    with refused(byre.ArgumentError, "dtype rational, which .npy lacks"):
        byre.save(tmp_path / "a.npy", np.zeros(3, rational))


# ---- save_async


@pytest.mark.parametrize("format", ["npy", "safetensors"])
def test_async_save_reports_progress_by_pieces_and_completes(format, tmp_path):
    x = np.arange(PIECE // 8 * 2 + 5)
    calls = []
    state = x if format == "npy" else {"x": x}
    future = byre.save_async(
        tmp_path / f"a.{format}", state, progress=lambda *call: calls.append((threading.current_thread(), *call))
    )
    assert isinstance(future, concurrent.futures.Future) and future.result() is None
    found = byre.load(tmp_path / f"a.{format}")
    assert np.array_equal(found if format == "npy" else found["x"], x)
    threads, done, totals = zip(*calls)
    assert set(threads) != {threading.current_thread()} and len(set(threads)) == 1
    assert len(set(totals)) == 1 and done[-1] == totals[0] >= x.nbytes
    assert list(done) == sorted(done) and max(np.diff(done)) <= PIECE and len(done) >= 3


def test_async_save_has_the_values_of_the_copy_it_was_given(tmp_path):
    state = byre.to_pages({"x": np.zeros(PIECE // 4), "y": np.zeros(3)})
    started, written = threading.Event(), threading.Event()

    def progress(done, total):
        started.set()
        assert written.wait(60)

    future = byre.save_async(tmp_path / "a.safetensors", byre.copy(state), progress=progress)
    assert started.wait(60)
    state["x"][:] = 1
    state["y"][:] = 1
    assert not future.done() and list(tmp_path.glob("*.safetensors")) == []
    written.set()
    future.result()
    assert all((array == 0).all() for array in byre.load(tmp_path / "a.safetensors").values())


@pytest.mark.parametrize("format", ["npy", "safetensors"])
def test_exception_in_progress_cancels_the_save(format, tmp_path):
    path, calls = tmp_path / f"a.{format}", []
    state = np.zeros(PIECE // 4) if format == "npy" else {"x": np.zeros(PIECE // 4)}

    def progress(done, total):
        calls.append(done)
        if done >= PIECE:
            raise KeyError("enough")

    path.write_bytes(b"old")
    future = byre.save_async(path, state, progress=progress)
    assert isinstance(future.exception(), KeyError)
    assert sum(done >= PIECE for done in calls) == 1
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_error_of_the_system_leaves_no_file_and_is_the_futures(tmp_path):
    for state, name in ((np.zeros(3), "a.npy"), ({"a": np.zeros(3)}, "a.safetensors")):
        path = tmp_path / "missing" / name
        with pytest.raises(OSError):
            byre.save(path, state)
        assert isinstance(byre.save_async(path, state).exception(), OSError)
    assert list(tmp_path.iterdir()) == []


def test_async_saves_to_one_path_leave_one_whole_file(tmp_path):
    path = tmp_path / "a.npy"
    for future in [byre.save_async(path, np.full(N, number)) for number in range(8)]:
        future.result()
    found = np.load(path)
    assert (found == found[0]).all() and list(tmp_path.iterdir()) == [path]
