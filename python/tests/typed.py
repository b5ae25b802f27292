# SPDX-License-Identifier: BSL-1.0
# A program that mypy --strict accepts, except for the lines that end in WRONG.
import concurrent.futures
import socket
from typing import Any

import byre
import numpy as np
import numpy.typing as npt

x: npt.NDArray[np.float64] = byre.zeros((2, 2), order="F")
y: npt.NDArray[np.float64] = byre.copy(x, lazy=False)
state: dict[str, npt.NDArray[Any]] = byre.copy(byre.to_pages({"x": x, "y": byre.array([1, 2], "f4")}))
with byre.pages(min_nbytes=100), byre.no_copies():
    text: str = byre.explain(state)
copied: int = (byre.stats() - byre.stats()).bytes_copied
lazy: bool = byre.is_lazy(x)
with byre.tag("weights"):
    report: dict[str, Any] = byre.memory().report
summary: str = byre.memory_summary()
byre.trim()
byre.trim(keep_nbytes=1)
byre.set_pool_limit(byre.get_pool_limit())
byre.save("a.npy", x, format="npy")
saved: concurrent.futures.Future[None] = byre.save_async(b"a", state, "safetensors", progress=lambda done, total: None)
by: dict[str, str] = byre.metadata("a.safetensors")
loaded: Any = byre.load("a.npy")
shared: byre.Shared[npt.NDArray[np.float64]] = byre.Shared(x)
shared.set(y)
here, there = byre.Pipe()
with here, byre.Connection(socket.socket(socket.AF_UNIX)) as connection:
    connection.send(state)
    received: Any = there.recv()
remaining: int = byre.collect(drop_unread=True).remaining
gotten: npt.NDArray[np.float64] = shared.get()

byre.copy(x, lazy="yes")  # WRONG
byre.pages("large")  # WRONG
byre.save(3, x)  # WRONG
byre.save("a", x, metadata={"a": 1})  # WRONG
byre.save_async("a", x, progress=lambda done: None)  # WRONG
byre.nothing()  # WRONG
byre.tag(3)  # WRONG
byre.trim("all")  # WRONG
shared.set("text")  # WRONG
byre.Connection("socket")  # WRONG
byre.collect("all")  # WRONG
z: int = byre.copy("text")  # WRONG
