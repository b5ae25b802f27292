# SPDX-License-Identifier: BSL-1.0
"""Arrays and tensors in files: .npy and .safetensors."""
from __future__ import annotations

import collections
import concurrent.futures
import functools
import numbers
import os
from typing import Any, Callable, Iterator, Union, cast

import numpy as np
from byre import _byre, _leaves, _npy, _safetensors, _torch
from byre._errors import ArgumentError, Error, FileError, MissingFile

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Progress = Callable[[int, int], object]
_FORMATS: dict[str, Any] = {"npy": _npy, "safetensors": _safetensors}
_PIECE_NBYTES = 16 << 20


def _format_of(path: Path, format: str | None, operation: str) -> tuple[str, str]:
    name = os.fsdecode(path)
    found = os.path.splitext(name)[1][1:] if format is None else format
    if found not in _FORMATS:
        problem = f'"{name}" does not end in .npy or .safetensors' if format is None else f"format is {format!r}"
        way_out = 'Pass format="npy" or "safetensors"; for .npz call np.load() within byre.pages()'
        raise ArgumentError(f"{operation}: {problem}. {way_out}.")
    return name, found


def _read(path: Path, format: str | None, operation: str) -> Any:
    """Calls the format's function for an operation. Raises FileError if the file is malformed."""
    name, format = _format_of(path, format, operation)
    read = getattr(_FORMATS[format], operation, None)
    if read is None:
        raise ArgumentError(f"{operation}: .{format} files have no {operation}. Pass a .safetensors file.")
    try:
        with open(name, "rb") as file:
            return read(file)
    except Error:
        raise
    except FileNotFoundError as error:
        raise MissingFile(f'{operation}: no file "{name}". Check the path.') from error
    except (OSError, MemoryError, Warning):
        raise
    except Exception as error:
        raise FileError(f'{operation}: cannot read "{name}" as .{format}: {error}. Save it again.') from error


def load(path: Path, format: str | None = None) -> Any:
    """The array of a .npy file, or the dict of arrays of a .safetensors file, in fresh memory in pages.

    Data of types BF16 and F8 in .safetensors become tensors if PyTorch can be imported and has the dtype, else arrays
    with dtypes of ml_dtypes. Other unsupported tensors are skipped with a byre.SkippedWarning. Pickles are never
    read. Raises MissingFile if there is no file, FileError if it is malformed, ArgumentError for an unknown format.

    >>> byre.save("model.safetensors", {"weights": np.zeros(2), "steps": 7})
    >>> byre.load("model.safetensors")
    {'steps': array(7), 'weights': array([0., 0.])}
    """
    return _read(path, format, "load")


def mmap(path: Path, format: str | None = None) -> Any:
    """Like load(), but maps the file: no data are read before they are used.

    A write copies the page that it touches, and never changes the file. Misaligned arrays are loaded into fresh memory.
    Raises the errors of load().

    >>> byre.save("grid.npy", np.zeros(2))
    >>> grid = byre.mmap("grid.npy")
    >>> grid[0] = 1
    >>> grid, byre.load("grid.npy")
    (array([1., 0.]), array([0., 0.]))
    """
    return _read(path, format, "mmap")


def metadata(path: Path, format: str | None = None) -> dict[str, str]:
    """The metadata of a .safetensors file. Reads only its header. Raises the errors of load().

    >>> byre.save("model.safetensors", {"weights": np.zeros(2)}, metadata={"license": "MIT"})
    >>> byre.metadata("model.safetensors")
    {'license': 'MIT'}
    """
    return cast("dict[str, str]", _read(path, format, "metadata"))


def _flat(x: Any, name: str = "") -> Iterator[_leaves.Leaf]:
    """Yields the arrays, tensors and numbers of nested dicts, lists and tuples, named by their joined keys."""
    if _leaves.is_leaf(x):
        _torch.expect_usable(leaf := _leaves.leaf_of(name, x), "save")
        yield leaf
    elif isinstance(x, (numbers.Number, np.generic)):
        yield _leaves.leaf_of(name, np.asarray(x))
    elif isinstance(x, (dict, list, tuple)):
        for key, part in x.items() if isinstance(x, dict) else enumerate(x):
            if not isinstance(key, (str, int)):
                raise ArgumentError(f"save: the key {key!r} is of type {type(key).__name__}. Use a str.")
            yield from _flat(part, f"{name}.{key}" if name else str(key))
    else:
        raise ArgumentError(f'save: "{name}" is of type {type(x).__name__}. Pass arrays, tensors and numbers, in '
                            "dicts, lists and tuples; of a torch.nn.Module pass its state_dict().")


def _planned(path: Path, x: Any, format: str | None, metadata: Any) -> tuple[str, int, Callable[[_npy.Write], object]]:
    """A file's name, the size of the file or its data, and the function that writes the file. Raises ArgumentError."""
    name, format = _format_of(path, format, "save")
    if "\0" in name:
        raise ArgumentError(f"save: the path {name!r} contains a null character. Remove it.")
    if metadata is not None and format != "safetensors":
        raise ArgumentError(f"save: .{format} files have no metadata. Save as .safetensors, or leave metadata out.")
    if isinstance(x, (dict, list, tuple)) if format == "npy" else not isinstance(x, dict):
        allowed = "one array or tensor" if format == "npy" else "a dict of names and arrays"
        raise ArgumentError(f"save: cannot save type {type(x).__name__} as .{format}. Pass {allowed}.")
    leaves = list(_flat(x))
    for leaf_name, count in sorted(collections.Counter(leaf.name for leaf in leaves).items()):
        if count > 1:
            raise ArgumentError(f'save: the name "{leaf_name}" occurs twice. Rename a key.')
    return name, *(_npy.plan(leaves) if format == "npy" else _safetensors.plan(leaves, metadata))


def _write(name: str, total_nbytes: int, write_all: Callable[[_npy.Write], object],
           progress: Progress | None = None) -> None:
    """Writes a file that appears when it is complete. After an error, no file appears."""
    file, done_nbytes = _byre.OutputFile(os.fsencode(name)), 0

    def write(data: Any) -> None:
        nonlocal done_nbytes
        for begin in range(0, len(data), _PIECE_NBYTES):
            piece = memoryview(data)[begin : begin + _PIECE_NBYTES]
            file.write(piece)
            done_nbytes += len(piece)
            if progress:
                progress(min(done_nbytes, total_nbytes), total_nbytes)

    try:
        write_all(write)
        file.commit()
    finally:
        del file  # removes an uncommitted file even if an error still holds this frame


def save(path: Path, x: Any, format: str | None = None, metadata: dict[str, str] | None = None) -> None:
    """Saves an array or tensor in a .npy file, or a dict of arrays, tensors and numbers in a .safetensors file.

    Nested dicts, lists and tuples are flattened: {"a": {"b": x}} is saved as "a.b". Other programs find the complete
    old file or the complete new one; x may be mapped from the old one. `metadata` is a dict of str for a .safetensors
    file. Contiguous memory is written without a copy. Raises ArgumentError for unsupported values, or FileError if the
    file cannot be written.

    >>> byre.save("grid.npy", np.ones(3))
    >>> np.load("grid.npy")
    array([1., 1., 1.])
    """
    _write(*_planned(path, x, format, metadata))


def save_async(path: Path, x: Any, format: str | None = None, metadata: dict[str, str] | None = None,
               progress: Progress | None = None) -> concurrent.futures.Future[None]:
    """Calls save() in a new thread. To save x as it is now and change it meanwhile, pass byre.copy(x).

    progress(done_nbytes, total_nbytes) is called in that thread after each piece of up to 16 MiB. If it raises an
    exception, the save is canceled and the future has that exception. The program does not exit before the save ends.
    Wrong arguments raise ArgumentError immediately; other errors are in the future.

    >>> state = byre.to_pages({"weights": np.zeros(100_000)})
    >>> saved = byre.save_async("state.safetensors", byre.copy(state))
    >>> state["weights"][:] = 1
    >>> saved.result()
    >>> float(byre.load("state.safetensors")["weights"].max())
    0.0
    """
    writes = [functools.partial(_write, *_planned(path, x, format, metadata))]
    pool = concurrent.futures.ThreadPoolExecutor(1, "byre.save_async")
    future = pool.submit(lambda: writes.pop()(progress=progress))  # releases x before the future is done
    pool.shutdown(wait=False)
    return future
