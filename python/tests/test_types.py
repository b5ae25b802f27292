# SPDX-License-Identifier: BSL-1.0
"""The extension is as its stub says, and mypy finds the errors of a program that uses byre."""
import os
import pathlib
import re
import subprocess
import sys

import byre
import pytest

pytest.importorskip("mypy")
HERE = pathlib.Path(__file__).parent
FOLDER = pathlib.Path(byre.__file__).parent.parent


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"MYPYPATH": str(FOLDER), "MYPY_CACHE_DIR": os.devnull},
    )


def test_stub_of_the_extension_matches_it():
    options = ["--ignore-missing-stub", "--allowlist", str(HERE / "stubtest_allowlist.txt")]
    ended = run("mypy.stubtest", "byre._byre", *options)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_mypy_finds_the_wrong_lines_of_a_program_and_no_others():
    program = HERE / "typed.py"
    ended = run("mypy", "--strict", str(program))
    found = {int(line) for line in re.findall(r"typed\.py:(\d+): error", ended.stdout)}
    lines = program.read_text().splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# WRONG")}
    assert found == wrong, ended.stdout + ended.stderr


def test_package_is_marked_as_typed():
    assert (FOLDER / "byre/py.typed").is_file()
