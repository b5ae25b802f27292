# SPDX-License-Identifier: BSL-1.0
"""What tests of the module share."""
import re

import byre
import numpy as np
import pytest


def values(array):
    """The elements as NumPy has them."""
    if not isinstance(array, byre.Array):
        return np.asarray(array)
    return np.array((array.astype("float32") if array.dtype == byre.bfloat16 else array).numpy())


def same(array, expected):
    """Whether the dtype, the sizes and the elements are those of NumPy's array."""
    expected = np.asarray(expected)
    return (
        array.dtype == expected.dtype
        and array.shape == expected.shape
        and np.array_equal(values(array), expected, equal_nan=expected.dtype.kind in "fc")
    )


def refused(kind, *words):
    """A block that raises `kind` with a text in which these words are."""
    return pytest.raises(kind, match=".*".join(re.escape(word) for word in words))
