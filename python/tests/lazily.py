# SPDX-License-Identifier: BSL-1.0
"""A pytest plugin that has a package use lazy copies without a change: LAZILY_IN=FOLDER pytest -p lazily ...

From the first case on NumPy allocates every array from pages. Each call, operator and index in Python code of the
folder is followed by byre.copy(array, lazy=True) if it made an array; if a case repeats a place in the code, the copy
is made once. The code goes on with the source and with the copy in turn. The other side is filled with garbage and
has to keep it until the case ends. The file LAZILY_RESULTS gets a line of JSON for each phase of a case, and counts
in the end.
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

FOLDER = os.environ.get("LAZILY_IN")
compiled = importlib.machinery.SourceFileLoader.source_to_code
results = open(os.environ["LAZILY_RESULTS"], "w", encoding="utf-8")
GARBAGE = b"\xa5"
KEPT, KEPT_NBYTES = 500, 1 << 20  # arrays of garbage that are kept at a time: how many, and the largest
counts, places, spoiled = collections.Counter(lazy=0, refused=0, overwritten=0), set(), collections.deque()


class Wrapped(ast.NodeTransformer):
    """Has every value that may be a new array pass through lazily()."""

    def visit(self, node):
        self.generic_visit(node)
        is_made = isinstance(node, (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript))
        if not is_made or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return node
        call = ast.Call(ast.Name("__byre_lazily__", ast.Load()), [node], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def source_to_code(loader, data, path, **options):
    is_wrapped = pathlib.Path(os.fsdecode(path)).is_relative_to(FOLDER)
    return compiled(loader, Wrapped().visit(ast.parse(data)) if is_wrapped else data, path, **options)


def lazily(value):
    # Only the expression refers to a new array, so a copy may take its place.
    if type(value) not in (np.ndarray, np.matrix, np.recarray) or sys.getrefcount(value) != 2 or not value.nbytes:
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
        spare.dtype = np.uint8  # some cases count the references to other dtypes
        spare.fill(ord(GARBAGE))
        if spare.nbytes <= KEPT_NBYTES:
            spoiled.append(spare)
            check_spoiled(KEPT)
    return used


def check_spoiled(kept):
    while len(spoiled) > kept:
        array = spoiled.popleft()
        counts["overwritten"] += array.tobytes() != GARBAGE * array.nbytes


def pytest_collection_finish():
    if FOLDER:
        in_pages.__enter__()  # not before: modules of cases make more small arrays than the system has mappings


def pytest_runtest_logstart():
    places.clear()
    check_spoiled(0)


def pytest_runtest_logreport(report):
    outcome = f"{report.when} {report.outcome}{' as expected' if hasattr(report, 'wasxfail') else ''}"
    print(json.dumps([report.nodeid, outcome, report.longreprtext[-300:]]), file=results, flush=True)


def pytest_collectreport(report):
    if report.failed:
        pytest_runtest_logreport(report)


def pytest_sessionfinish():
    check_spoiled(0)
    print(json.dumps(["", "end", {**counts, "cpu_seconds": round(time.process_time())}]), file=results, flush=True)


if FOLDER:
    assert "numpy" not in sys.modules, "NumPy was imported before its code could be wrapped"
    importlib.machinery.SourceFileLoader.source_to_code = source_to_code
    builtins.__byre_lazily__ = lambda value: value
    sys.dont_write_bytecode = True
    sys.pycache_prefix = os.path.join(os.getcwd(), "none")  # no code that was compiled before
    import byre
    import numpy as np

    in_pages = byre.pages(min_nbytes=0)
    builtins.__byre_lazily__ = lazily
