# SPDX-License-Identifier: BSL-1.0
"""NumPy's universal functions of byre's arrays: np.exp(x), np.add.reduce(x), np.add(x, y, out=z), a += x."""
import numpy as np

from byre import _byre

# An operator with NumPy's array or number on the left: byre's own.
_REFLECTED = {
    np.add: "__radd__",
    np.subtract: "__rsub__",
    np.multiply: "__rmul__",
    np.true_divide: "__rtruediv__",
    np.matmul: "__rmatmul__",
    np.equal: "__eq__",
    np.not_equal: "__ne__",
    np.less: "__gt__",
    np.less_equal: "__ge__",
    np.greater: "__lt__",
    np.greater_equal: "__le__",
}


def _is_array(thing):
    return isinstance(thing, _byre.Array)


def array_ufunc(self, ufunc, method, *inputs, out=None, **options):
    """What NumPy calls. It computes, on the same memory; what it returns are its own arrays, but for operators."""
    if method == "__call__" and out is None and not options and len(inputs) == 2 and not _is_array(inputs[0]):
        reflected = _REFLECTED.get(ufunc)
        if reflected is not None:
            result = getattr(inputs[1], reflected)(inputs[0])
            if result is not NotImplemented:
                return result
    if out is not None:
        # First, so that an array that is both read and written is seen once, and not copied.
        options["out"] = tuple(thing.numpy(writable=True) if _is_array(thing) else thing for thing in out)
    if method == "at":
        # Writes its first operand, which NumPy does to one that may only be read too.
        inputs = (inputs[0].numpy(writable=True) if _is_array(inputs[0]) else inputs[0], *inputs[1:])
    seen = [thing.numpy() if _is_array(thing) else thing for thing in inputs]
    result = getattr(ufunc, method)(*seen, **options)
    if out is None:
        return result
    return out[0] if len(out) == 1 else out
