#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs NumPy's own tests twice, plainly and with every new array copied lazily before use, and compares the outcomes.

Exits with 1 if a case differs, and with 77 if a tool is not installed. The second run loads this file as a plugin of
pytest. From the first case on, NumPy allocates every array in pages. Each call, operator and index in NumPy's Python
code that makes an array is followed by byre.copy(array, lazy=True); if a case repeats a place in the code, the copy is
made once. The code continues alternately with the source and with the copy. The array that is not used is filled with
garbage, which must not change until the case ends.

Slow cases and the following cases are omitted:
  test_dot_big_stride                     uses two elements of np.empty() of 8 GiB, and in pages these take 8 GiB
  test_identityless_reduction_huge_array  reads 4 GiB of zeros, and in pages these take 4 GiB of memory
  test_memoryleak                         makes 1,000 arrays of 100 MB
  test_leak                               adds two integers 200,000 times
"""
import argparse
import ast
import builtins
import collections
import importlib.machinery
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

try:
    import hypothesis  # noqa: F401
    import pytest
except ImportError as error:
    print(f"numpy_suite: skipped: {error}. Install Debian's python3-pytest and python3-hypothesis.")
    sys.exit(77)

PACKAGES = ["core", "fft", "lib", "linalg", "ma", "matrixlib", "polynomial", "random"]
LEFT_OUT = "test_dot_big_stride", "test_identityless_reduction_huge_array", "test_memoryleak", "test_leak"
OPTIONS = ["-q", "--assert=plain", "-p", "no:cacheprovider", "--continue-on-collection-errors", "--junitxml=cases.xml"]
OPTIONS += ["--tb=no", "--disable-warnings", "-m", "not slow", "-k", " and ".join(f"not {name}" for name in LEFT_OUT)]
FOLDER = os.environ.get("BYRE_LAZILY_IN")  # in the second run: NumPy's folder
GARBAGE = b"\xa5"
KEPT, KEPT_NBYTES = 500, 1 << 20  # arrays of garbage: the number that is kept, and the largest size
counts, places, spoiled = collections.Counter(lazy=0, refused=0, overwritten=0), set(), collections.deque()
compiled = importlib.machinery.SourceFileLoader.source_to_code


class Wrapped(ast.NodeTransformer):
    """Passes every value that may be a new array through lazily()."""

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
        spare.dtype = np.dtype(np.uint8)  # some cases count the references to other dtypes
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
    in_pages.__enter__()  # not earlier: imports of test modules make more small arrays than a process can have mappings


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    places.clear()
    yield
    item.__dict__.pop("_obj", None)  # the case's instance: the arrays of all instances would take all mappings
    check_spoiled(0)


def pytest_sessionfinish():
    check_spoiled(0)
    pathlib.Path("counts.json").write_text(json.dumps(counts), encoding="utf-8")


if FOLDER:
    assert "numpy" not in sys.modules, "NumPy was imported before its code could be wrapped"
    importlib.machinery.SourceFileLoader.source_to_code = source_to_code
    builtins.__byre_lazily__ = lambda value: value
    sys.dont_write_bytecode = True
    sys.pycache_prefix = os.path.join(os.getcwd(), "none")  # ignores code that was compiled earlier
    import byre
    import numpy as np

    in_pages = byre.pages(min_nbytes=0)
    builtins.__byre_lazily__ = lazily


def outcomes(how, arguments, work):
    """The outcome of each case, by its name."""
    print(f"{how}:", flush=True)
    (work / how).mkdir()
    paths = [os.path.dirname(__file__), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(map(os.path.abspath, paths))}
    if how == "lazily":
        arguments = ["-p", "numpy_suite", *arguments]
        environment["BYRE_LAZILY_IN"] = str(pathlib.Path(np.__file__).parent)
    command = [sys.executable, "-m", "pytest", *OPTIONS, *arguments]
    status = subprocess.run(command, env=environment, cwd=work / how).returncode
    if status not in (0, 1) or not (work / how / "cases.xml").exists():
        sys.exit(f"numpy_suite: pytest ended with status {status}. Look at what it printed above.")
    cases = xml.etree.ElementTree.parse(work / how / "cases.xml").iter("testcase")
    return {f"{x.get('classname')}.{x.get('name')}": [(y.tag, y.get("type")) for y in x] for x in cases}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=PACKAGES,
                        help=f"packages of NumPy to test (default: {' '.join(PACKAGES)})")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the counts to FILE")
    options = parser.parse_args()
    folder = pathlib.Path(np.__file__).parent
    arguments = [f"--rootdir={folder}", *(f"{folder}/{name}/tests" for name in options.packages)]
    with tempfile.TemporaryDirectory(prefix="byre-numpy-") as name:
        work = pathlib.Path(name)
        plain, lazy = outcomes("plainly", arguments, work), outcomes("lazily", arguments, work)
        found = json.loads((work / "lazily" / "counts.json").read_text(encoding="utf-8"))
    different = [case for case in sorted(plain.keys() | lazy.keys()) if plain.get(case) != lazy.get(case)]
    for case in different[:40]:
        print(f"{case}: plainly {plain.get(case)}, lazily {lazy.get(case)}")
    found |= {"cases": len(plain.keys() | lazy.keys()), "different": different}
    print("{cases} cases, {} different; {lazy} lazy copies, {refused} refused (Python objects, arrays of imports), "
          "{overwritten} overwritten by writes to the other array".format(len(different), **found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if found["lazy"] < len(lazy):
        sys.exit(f"numpy_suite: {found['lazy']} lazy copies in {len(lazy)} cases. Expected at least one per case.")
    return 1 if different or found["overwritten"] else 0


if __name__ == "__main__":
    import numpy as np

    sys.exit(main())
