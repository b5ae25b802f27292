# SPDX-License-Identifier: BSL-1.0
"""PyTorch, or None; apart from what all tests share, as it takes seconds to import."""
import pytest

try:
    import torch
except ImportError:
    torch = None

needs_pytorch = pytest.mark.skipif(torch is None, reason="there is no PyTorch")
