# SPDX-License-Identifier: BSL-1.0
# A program whose types mypy --strict finds right; its lines that end in WRONG are wrong.
import byre
import numpy as np

x: byre.Array = byre.array([[1, 2], [3, 4]], dtype=np.float32, pages=True)
y: byre.Array = byre.zeros((2, 2), byre.bfloat16) + 1 - np.ones(2) * byre.full(2, 1.5, "float32")
y[0, ..., None, 1:] = x.T.reshape(2, -1)[0]
y += 2 / -x @ x
shape: tuple[int, ...] = y.shape
with byre.no_copies() as block:
    text: str = byre.explain(x)
copied: int = (byre.stats() - byre.stats()).bytes_copied
rows: list[list[float]] = x.tolist()
z: byre.Array = byre.where(x >= y, x, 0).sum(axis=(0, 1), keepdims=True)
for row in byre.concatenate([x, y]):
    print(row, float(z), bool(z), len(x), x.dtype)

byre.zeros("a")  # WRONG
byre.array([1], pages=1.5)  # WRONG
x.reshape(2.5)  # WRONG
x["a"]  # WRONG
x + None  # WRONG
x.shape = (4,)  # WRONG
byre.copy(None)  # WRONG
byre.nothing()  # WRONG
