# SPDX-License-Identifier: BSL-1.0
"""Checks the output of sessions in docstrings and documents, and the package's type annotations."""
import doctest
import inspect
import os
import pathlib
import re
import subprocess
import sys

import byre
import numpy as np
import pytest

HERE, FOLDER = pathlib.Path(__file__).parent, pathlib.Path(byre.__file__).parent.parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "doc_examples"))

import doc_examples  # noqa: E402

DOCSTRINGS = {"byre": byre.__doc__, **{name: inspect.getdoc(getattr(byre, name)) for name in byre.__all__}}
SESSIONS = {name: text for name, text in DOCSTRINGS.items() if ">>>" in text} | {"README.md": "", "docs/python.md": ""}
for block in doc_examples.all_blocks(ROOT):
    if block.language in ("pycon", "python"):
        SESSIONS[block.page] = SESSIONS.get(block.page, "") + block.text + "\n"


@pytest.mark.parametrize("name", SESSIONS)
def test_session_prints_its_documented_output(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    is_document, report = "." in name, []
    names = {} if is_document else {"byre": byre, "np": np}
    session = doctest.DocTestParser().get_doctest(SESSIONS[name], names, name, None, None)
    options = 0 if is_document else doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, attempted = doctest.DocTestRunner(verbose=False, optionflags=options).run(session, out=report.append)
    assert attempted and not failed, "".join(report)


def test_dunder_all_lists_the_public_names_in_sorted_order():
    names = {name for name, value in vars(byre).items() if not (name.startswith("_") and inspect.ismodule(value))}
    assert sorted(name for name in names if not name.startswith("__")) == byre.__all__
    assert all(DOCSTRINGS.values())
    assert byre.ArgumentError.__bases__ == (byre.Error, ValueError, TypeError)
    assert byre.CopyRefused.__bases__ == (byre.Error, RuntimeError)
    assert byre.FileError.__bases__ == (byre.Error, OSError, ValueError)
    assert byre.MissingFile.__bases__ == (byre.FileError, FileNotFoundError)
    assert byre.OutOfMemory.__bases__ == (byre.Error, MemoryError)
    assert byre.TransferError.__bases__ == (byre.Error, RuntimeError)
    assert byre.ConnectionEnded.__bases__ == (byre.TransferError, EOFError)


def run_mypy(module, *arguments):
    pytest.importorskip("mypy")
    env = os.environ | {"MYPYPATH": str(FOLDER), "MYPY_CACHE_DIR": os.devnull}
    return subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, env=env)


def test_type_stub_matches_the_extension():
    options = ["--ignore-missing-stub", "--allowlist", HERE / "stubtest_allowlist.txt"]
    ended = run_mypy("mypy.stubtest", "byre._byre", *options)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_mypy_reports_exactly_the_lines_marked_wrong():
    ended = run_mypy("mypy", "--strict", HERE / "typed.py")
    lines = (HERE / "typed.py").read_text().splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# WRONG")}
    assert {int(line) for line in re.findall(r"typed\.py:(\d+): error", ended.stdout)} == wrong, ended
    assert (FOLDER / "byre/py.typed").is_file()
