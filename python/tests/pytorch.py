# SPDX-License-Identifier: BSL-1.0
"""PyTorch, or None. Not in support.py, because the import takes seconds."""
import pytest

try:
    import torch
except ImportError:
    torch = None

needs_pytorch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
