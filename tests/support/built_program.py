# SPDX-License-Identifier: BSL-1.0
"""Starts programs that were built, possibly for another machine."""
import os
import shlex


def command(program):
    """The command that starts PROGRAM. Meson sets MESON_EXE_WRAPPER if an emulator has to run it."""
    return [*shlex.split(os.environ.get("MESON_EXE_WRAPPER", "")), program]
