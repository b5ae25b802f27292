# SPDX-License-Identifier: BSL-1.0
from types import TracebackType

class no_copies:
    def __init__(self) -> None: ...
    def __enter__(self) -> no_copies: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
