# SPDX-License-Identifier: BSL-1.0
"""A pytest plugin that has a package use lazy copies without a change: pytest -p lazily --lazily-in=FOLDER ...

NumPy allocates every array from pages. Each call, operator and index in Python code of the folder is followed by
byre.copy(array, lazy=True) if it made an array; if a case repeats a place in the code, the copy is made once. The code
goes on with the source and with the copy in turn. The other side is filled with garbage and has to keep it until the
case ends. --results=FILE gets a line of JSON for each phase of a case, and counts in the end.
"""
import ast
import builtins
import collections
import importlib.machinery
import json
import os
import pathlib
import sys
import time

import pytest

GARBAGE = b"\xa5"
KEPT, KEPT_NBYTES = 500, 1 << 20  # arrays of garbage that are kept at a time: how many, and the largest
counts, places, spoiled = collections.Counter(), set(), collections.deque()


class Wrapped(ast.NodeTransformer):
    """Has every value that may be a new array pass through lazily()."""

    def visit(self, node):
        self.generic_visit(node)
        is_made = isinstance(node, (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript))
        if not is_made or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return node
        call = ast.Call(ast.Name("__byre_lazily__", ast.Load()), [node], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def wrap_code_in(folder):
    compiled = importlib.machinery.SourceFileLoader.source_to_code

    def source_to_code(loader, data, path, **options):
        is_wrapped = pathlib.Path(os.fsdecode(path)).is_relative_to(folder)
        return compiled(loader, Wrapped().visit(ast.parse(data)) if is_wrapped else data, path, **options)

    importlib.machinery.SourceFileLoader.source_to_code = source_to_code
    sys.pycache_prefix = os.path.join(os.getcwd(), "none")  # no code that was compiled before


def check_spoiled(kept):
    while len(spoiled) > kept:
        array = spoiled.popleft()
        counts["overwritten"] += array.tobytes() != GARBAGE * array.nbytes


def make_copies():
    assert "numpy" not in sys.modules, "NumPy was imported before its code could be wrapped"
    builtins.__byre_lazily__ = lambda value: value
    import byre
    import numpy as np

    byre.pages(min_nbytes=0).__enter__()
    plain_types, bytes_dtype = (np.ndarray, np.matrix, np.recarray), np.dtype(np.uint8)

    def lazily(value):
        # Only the expression refers to a new array, so a copy may take its place.
        if type(value) not in plain_types or sys.getrefcount(value) != 2 or not value.nbytes:
            return value
        frame = sys._getframe(1)
        place = hash((frame.f_code, frame.f_lasti))
        if value.base is not None or not value.flags.owndata or place in places:
            return value
        places.add(place)
        try:
            copy = byre.copy(value, lazy=True)
        except byre.CopyRefused:
            counts["refused"] += 1
            return value
        counts["lazy"] += 1
        used, spare = (value, copy) if counts["lazy"] % 2 else (copy, value)
        used.flags.writeable = value.flags.writeable
        spare.flags.writeable = True
        spare = spare if spare.flags.c_contiguous else spare.T
        if spare.flags.c_contiguous:
            spare.shape = -1
            spare.dtype = bytes_dtype  # some cases count the references to other dtypes
            spare.fill(ord(GARBAGE))
            if spare.nbytes <= KEPT_NBYTES:
                spoiled.append(spare)
                check_spoiled(KEPT)
        return used

    builtins.__byre_lazily__ = lazily


def pytest_addoption(parser):
    parser.addoption("--results", required=True)
    parser.addoption("--lazily-in")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    sys.dont_write_bytecode = True
    options = early_config.known_args_namespace
    if options.lazily_in:
        wrap_code_in(options.lazily_in)
        make_copies()


def pytest_configure(config):
    config.pluginmanager.register(Results(open(config.getoption("results"), "w", encoding="utf-8")))


class Results:
    def __init__(self, file):
        self.file = file

    def write(self, *line):
        print(json.dumps(line), file=self.file, flush=True)

    def pytest_runtest_logstart(self):
        places.clear()
        check_spoiled(0)

    def pytest_runtest_logreport(self, report):
        expected = " as expected" if hasattr(report, "wasxfail") else ""
        self.write(report.nodeid, f"{report.when} {report.outcome}{expected}", report.longreprtext[-300:])

    def pytest_collectreport(self, report):
        if report.failed:
            self.write(report.nodeid, "import failed", report.longreprtext[-300:])

    def pytest_sessionfinish(self):
        check_spoiled(0)
        self.write("", "end", {**counts, "cpu_seconds": round(time.process_time())})
