# SPDX-License-Identifier: BSL-1.0
"""Rejects an import in a subinterpreter before it loads the extension, because pybind11 may hang there."""
import ctypes


def _address(function: str) -> int:
    return int(ctypes.PYFUNCTYPE(ctypes.c_void_p)((function, ctypes.pythonapi))())


if _address("PyInterpreterState_Get") != _address("PyInterpreterState_Main"):
    raise ImportError("byre cannot be imported in a subinterpreter, because the process has one table of its blocks. "
                      "Import it in the main interpreter, or start a process.")
