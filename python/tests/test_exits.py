# SPDX-License-Identifier: BSL-1.0
"""A program may end while threads work."""
import subprocess
import sys

import pytest

PROGRAM = """
import threading
import byre
from byre import _byre

x = byre.zeros(200_000)
started = threading.Barrier(4)

def work():
    started.wait()
    while True:
        x[...] = 1
        y = x.copy()
        y += x
        _byre._release_on_a_thread(object())

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
started.wait()
"""


@pytest.mark.parametrize("number", range(10))
def test_daemon_threads_do_not_disturb_the_end(number):
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM + f"for _ in range({number * 100}): x.copy()\n"],
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_array_may_outlive_the_interpreter():
    program = "import byre, sys\nsys.kept = byre.zeros(3)\nkept = sys.kept.copy()\n"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
