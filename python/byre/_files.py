# SPDX-License-Identifier: BSL-1.0
"""Arrays and tensors in files: .npy and .safetensors."""
from __future__ import annotations

import concurrent.futures
import contextlib
import numbers
import os
import threading
from typing import Any, Callable, Iterator, Union

import numpy as np
from byre import _byre, _leaves, _npy, _output, _safetensors, _torch
from byre._byre import ArgumentError, FileError

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
_Write = Callable[[_output.Output], None]
_FORMATS = ("npy", "safetensors")


def _format_of(path: Path, format: str | None, operation: str) -> tuple[str, str]:
    name = os.fsdecode(path)
    found = os.path.basename(name).rpartition(".")[2] if format is None else format
    if found not in _FORMATS:
        problem = f'"{name}" does not end in .npy or .safetensors' if format is None else f"format is {format!r}"
        raise ArgumentError(
            f'{operation}: {problem}. Pass format="npy" or "safetensors"; for .npz call np.load() within byre.pages().'
        )
    return name, found


@contextlib.contextmanager
def _reading(name: str, format: str, operation: str) -> Iterator[None]:
    """Raises FileError for a malformed file, however the library that reads it puts that."""
    try:
        yield
    except _byre.Error:
        raise
    except FileNotFoundError as error:
        raise _byre.MissingFile(f'{operation}: no file "{name}". Check the path.') from error
    except (OSError, MemoryError, Warning):
        raise
    except Exception as error:
        raise FileError(f'{operation}: cannot read "{name}" as .{format}: {error}. Save it again.') from error


def load(path: Path, format: str | None = None) -> Any:
    """The array of a .npy file, or a dict of those of a .safetensors file, in fresh memory in pages.

    BF16 and F8 of .safetensors give tensors if PyTorch can be imported and has the dtype, else arrays of ml_dtypes.
    Tensors of other dtypes are skipped with a byre.SkippedWarning. Pickled objects are never read.

    >>> byre.save("model.safetensors", {"weights": np.zeros(2), "steps": 7})
    >>> byre.load("model.safetensors")
    {'steps': array(7), 'weights': array([0., 0.])}
    """
    name, format = _format_of(path, format, "load")
    with _reading(name, format, "load"), open(name, "rb") as file:
        if format == "safetensors":
            return _safetensors.load(file, name)
        return _npy.load(file)


def mmap(path: Path, format: str | None = None) -> Any:
    """As load(), of a file that is mapped: nothing is read before it is used.

    A write copies the page that it touches, and the file never changes. Misaligned arrays are loaded.

    >>> byre.save("grid.npy", np.zeros(2))
    >>> grid = byre.mmap("grid.npy")
    >>> grid[0] = 1
    >>> grid, byre.load("grid.npy")
    (array([1., 0.]), array([0., 0.]))
    """
    name, format = _format_of(path, format, "mmap")
    with _reading(name, format, "mmap"):
        if format == "safetensors":
            return _safetensors.mmap(name)
        with open(name, "rb") as file:
            return _npy.mmap(file)


def metadata(path: Path, format: str | None = None) -> dict[str, str]:
    """The metadata of a .safetensors file.

    >>> byre.save("model.safetensors", {"weights": np.zeros(2)}, metadata={"license": "MIT"})
    >>> byre.metadata("model.safetensors")
    {'license': 'MIT'}
    """
    name, format = _format_of(path, format, "metadata")
    if format != "safetensors":
        raise ArgumentError(f"metadata: .{format} files have no metadata. Pass a .safetensors file.")
    with _reading(name, format, "metadata"), open(name, "rb") as file:
        return _safetensors.read_header(file, name)[1]


def _flat(x: Any, name: str = "") -> Iterator[_leaves.Leaf]:
    """Arrays, tensors and numbers of nested dicts, lists and tuples, by names that join the keys."""
    if _leaves.is_leaf(x):
        _torch.expect_savable(leaf := _leaves.leaf_of(name, x), "save")
        yield leaf
    elif isinstance(x, (numbers.Number, np.generic)):
        yield _leaves.leaf_of(name, np.asarray(x))
    elif isinstance(x, (dict, list, tuple)):
        for key, part in x.items() if isinstance(x, dict) else enumerate(x):
            if not isinstance(key, (str, int)):
                raise ArgumentError(f"save: the key {key!r} is of type {type(key).__name__}. Use a str.")
            yield from _flat(part, f"{name}.{key}" if name else str(key))
    else:
        raise ArgumentError(
            f'save: "{name}" is of type {type(x).__name__}. Pass arrays, tensors and numbers, in dicts, lists and '
            "tuples; of a torch.nn.Module pass its state_dict()."
        )


def _planned(path: Path, x: Any, format: str | None, metadata: Any) -> tuple[str, int, _Write]:
    """The name of a file, its size as far as known, and the function that writes it. Raises for wrong arguments."""
    name, format = _format_of(path, format, "save")
    if metadata is not None and format != "safetensors":
        raise ArgumentError(f"save: .{format} files have no metadata. Save as .safetensors, or leave metadata out.")
    if isinstance(x, dict) if format == "npy" else not isinstance(x, dict):
        allowed = "one array or tensor" if format == "npy" else "a dict of names and arrays"
        raise ArgumentError(f"save: cannot save type {type(x).__name__} as .{format}. Pass {allowed}.")
    leaves = list(_flat(x))
    if len({leaf.name for leaf in leaves}) < len(leaves):
        names = sorted(leaf.name for leaf in leaves)
        repeated = next(name for name, following in zip(names, names[1:]) if name == following)
        raise ArgumentError(f'save: the name "{repeated}" occurs twice. Rename a key.')
    total_nbytes = sum(leaf.nbytes for leaf in leaves)
    if format == "safetensors":
        header, leaves = _safetensors.header_of(leaves, metadata)

        def write(out: _output.Output) -> None:
            out.write(header)
            for leaf in leaves:
                out.write(_safetensors.data_of(leaf))

        return name, len(header) + total_nbytes, write
    array = _npy.array_of(leaves[0])
    return name, total_nbytes, lambda out: _npy.write(out, array)


def save(path: Path, x: Any, format: str | None = None, metadata: dict[str, str] | None = None) -> None:
    """Writes an array or tensor to a .npy file, or a dict of arrays, tensors and numbers to .safetensors.

    Nested dicts, lists and tuples are flattened: {"a": {"b": x}} is saved as "a.b". Other programs see the old file or
    the new one, complete; x may be mapped from it. `metadata` is a dict of str for a .safetensors file.

    >>> byre.save("grid.npy", np.ones(3))
    >>> np.load("grid.npy")
    array([1., 1., 1.])
    """
    _output.written(*_planned(path, x, format, metadata))


def save_async(
    path: Path,
    x: Any,
    format: str | None = None,
    metadata: dict[str, str] | None = None,
    progress: _output.Progress | None = None,
) -> concurrent.futures.Future[None]:
    """save() in a thread of its own. To save x as it is now and change it meanwhile, pass byre.copy(x).

    progress(done_nbytes, total_nbytes) is called from the thread after each piece of up to 16 MiB. If it raises an
    exception, the save is canceled and the future has that exception. The program does not exit before the save ends.

    >>> state = byre.to_pages({"weights": np.zeros(100_000)})
    >>> saved = byre.save_async("state.safetensors", byre.copy(state))
    >>> state["weights"][:] = 1
    >>> saved.result()
    >>> float(byre.load("state.safetensors")["weights"].max())
    0.0
    """
    plan: Any = _planned(path, x, format, metadata)
    future: concurrent.futures.Future[None] = concurrent.futures.Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        nonlocal plan
        try:
            try:
                _output.written(*plan, progress)
            finally:
                plan = None  # The copy that was saved ends before a waiting thread goes on.
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(None)

    threading.Thread(target=run, name="byre.save_async").start()
    return future
