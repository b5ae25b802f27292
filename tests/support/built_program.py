# SPDX-License-Identifier: BSL-1.0
"""How a test starts what was built, which may be for another machine than this."""
import os
import shlex


def command(program):
    """The words to start PROGRAM with: Meson says which emulator has to run it, if one has to."""
    return [*shlex.split(os.environ.get("MESON_EXE_WRAPPER", "")), program]
