# SPDX-License-Identifier: BSL-1.0
"""Ends of arrays and of the interpreter."""
import gc
import itertools
import subprocess
import sys

import byre
import numpy as np
import pytest
from pytorch import torch
from support import ramp, used

START = """
import sys, threading, byre, numpy as np
x = byre.ones(1 << 19)
"""
DAEMONS = """
ready = threading.Barrier(4)
def work(name):
    ready.wait()
    while True:
        y = byre.copy(x.view(np.matrix), lazy=True)
        y[:] = 1
        byre.save(name, y)
        byre.mmap(name)[:] = 1
for number in range(3):
    threading.Thread(target=work, args=(f"{number}.npy",), daemon=True).start()
ready.wait()
for _ in range(1000):
    byre.copy(x)
"""
ENDS = {
    "daemon_threads": DAEMONS,
    "arrays": "sys.kept = [x, byre.copy(x)]; cycle = [byre.copy(x)]; cycle.append(cycle)",
    "a_collapse": "x = byre.ones(1 << 23)\ncopies = [byre.copy(x, lazy=True) for _ in range(4)]",
    "a_save": "byre.save_async('saved.npy', byre.copy(x)); x[:] = 2; del x",
}


@pytest.mark.parametrize("name", ENDS)
def test_interpreter_ends_quietly_with(name, tmp_path):
    ended = subprocess.run([sys.executable, "-c", START + ENDS[name]], capture_output=True, text=True, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert name != "a_save" or np.array_equal(np.load(tmp_path / "saved.npy"), np.ones(1 << 19))


@pytest.mark.parametrize("first", ["", "import byre\n"], ids=["first", "after_the_main_interpreter"])
def test_import_in_a_subinterpreter_is_refused(first):
    pytest.importorskip("_xxsubinterpreters")
    program = "import _xxsubinterpreters as s\ns.run_string(s.create(), 'import byre')"
    ended = subprocess.run([sys.executable, "-c", first + program], capture_output=True, text=True, timeout=60)
    assert "ImportError" in ended.stderr and "byre cannot be imported in a subinterpreter" in ended.stderr


def test_drops_in_any_order_free_everything():
    gc.collect()
    for order in itertools.permutations(range(5)):
        before = used()
        x = ramp()
        kept = [x, byre.copy(x), x[5:], memoryview(x), torch.from_numpy(x) if torch else x.T]
        kept[1][0] = x[1] = -1
        del x
        for index in order:
            kept[index] = None
        assert used() == before, order


def test_arrays_in_cycles_are_collected():
    gc.collect()
    before = used()
    for _ in range(10):
        cycle = {"array": ramp()}
        cycle["all"] = [cycle, byre.copy(cycle["array"])]
    del cycle
    gc.collect()
    assert used() == before
