# SPDX-License-Identifier: BSL-1.0
"""`./dev python`, with stand-ins for the tools it calls: nothing is installed, and nothing is built."""
import os
import pathlib
import pty
import subprocess

import byre
import pytest

DEV = pathlib.Path(__file__).parents[2] / "dev"
MODULE = pathlib.Path(byre.__file__).parents[1]
# Each says and writes down how it was called. All packages are there.
TOOL = '#!/bin/sh\necho "$(basename "$0") $*" | tee -a "$CALLED"\n'
DPKG_QUERY = '#!/bin/sh\nshift 2\nfor package; do echo "installed $package"; done\n'


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """A build folder that has the module, and what was called, as a function."""
    called, folder = tmp_path / "called", tmp_path / "tools"
    called.touch()
    folder.mkdir()
    scripts = {"meson": TOOL, "ninja": TOOL, "apt-get": TOOL, "dpkg-query": DPKG_QUERY}
    for name, script in scripts.items():
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    (tmp_path / "build").mkdir()
    (tmp_path / "build/python").symlink_to(MODULE)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("CALLED", str(called))
    monkeypatch.setenv("BYRE_BUILD", str(tmp_path / "build"))
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.chdir(tmp_path)
    return lambda: [line.split()[0:2] for line in called.read_text().splitlines()]


def dev(*arguments, stdin=subprocess.DEVNULL):
    return subprocess.run([DEV, "python", *arguments], stdin=stdin, capture_output=True, text=True)


def test_help_says_what_it_does_and_builds_nothing(tools):
    for option in ("--help", "-h"):
        ended = dev(option)
        assert ended.returncode == 0
        assert ended.stdout.startswith("usage: ./dev python [FILE [arguments]]\n")
    assert tools() == []


@pytest.mark.parametrize("name", ["missing.py", "/missing.py"])
def test_a_file_that_is_not_there_is_named_and_nothing_is_built(tools, name):
    ended = dev(name, "argument")
    assert ended.returncode == 2
    assert f"there is no '{name}'" in ended.stderr
    assert tools() == []


@pytest.mark.parametrize("folder", [".", "/"])
def test_a_file_is_run_where_one_is_with_its_arguments_and_without_tests(tools, tmp_path, folder, monkeypatch):
    program = tmp_path / "program.py"
    program.write_text("import byre, os, sys\nprint(byre.zeros(2), os.getcwd(), sys.argv[1:])\nsys.exit(3)\n")
    name = program if folder == "/" else "program.py"
    monkeypatch.chdir(folder)
    ended = dev(name, "--one", "two words")
    assert ended.stdout == f"[0. 0.] {os.getcwd()} ['--one', 'two words']\n", ended.stderr
    assert ended.returncode == 3
    assert tools() == [["meson", "setup"], ["ninja", "-C"]]


def test_options_are_those_of_python(tools):
    ended = dev("-c", "import byre; print(byre.zeros(2))")
    assert ended.stdout == "[0. 0.]\n", ended.stderr


def test_the_tests_are_run_and_without_a_terminal_that_is_all(tools):
    ended = dev()
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("meson test") and ended.stdout.count("\n") == 1
    assert tools() == [["meson", "setup"], ["ninja", "-C"], ["meson", "test"]]


def test_in_a_terminal_there_is_a_prompt_that_has_the_module(tools):
    ours, theirs = pty.openpty()
    os.write(ours, b"print(byre.zeros(2), 40 + 2)\nexit()\n")
    process = subprocess.Popen([DEV, "python"], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:
        pass  # nobody has the terminal any more
    os.close(ours)
    assert process.wait() == 0, said
    assert b"byre is imported" in said and b"[0. 0.] 42" in said


def test_tests_that_fail_end_it(tools, tmp_path):
    meson = tmp_path / "tools/meson"
    meson.write_text(TOOL + '[ "$1" != test ] || exit 5\n')
    assert dev().returncode == 5
