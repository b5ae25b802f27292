# SPDX-License-Identifier: BSL-1.0
"""Files that appear when they are complete, written in pieces with a report after each."""
from __future__ import annotations

from typing import Any, Callable

from byre import _byre

Progress = Callable[[int, int], object]
_PIECE_NBYTES = 16 << 20


class Output:
    """A file that appears when the `with` block ends, and not after an error."""

    def __init__(self, name: str, total_nbytes: int, progress: Progress | None) -> None:
        self._file, self._progress, self._total_nbytes = _byre.OutputFile(name), progress, total_nbytes
        self._done_nbytes = 0

    def write(self, data: Any) -> None:
        data = memoryview(data)
        for begin in range(0, len(data), _PIECE_NBYTES):
            piece = data[begin : begin + _PIECE_NBYTES]
            self._file.write(piece)
            self._done_nbytes += len(piece)
            if self._progress:
                self._progress(min(self._done_nbytes, self._total_nbytes), self._total_nbytes)

    def __enter__(self) -> Output:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        try:
            if kind is None:
                self._file.commit()
        finally:
            self._file.discard()


def written(name: str, total_nbytes: int, write: Callable[[Output], None], progress: Progress | None = None) -> None:
    with Output(name, total_nbytes, progress) as out:
        write(out)
