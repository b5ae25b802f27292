# SPDX-License-Identifier: BSL-1.0
"""`./dev python` with a module that is built: stand-ins for meson and ninja write down how they are called."""
import os
import pathlib
import subprocess

import byre
import pytest

DEV = pathlib.Path(__file__).parents[2] / "dev"
TOOL = '#!/bin/sh\necho "$(basename "$0") $1" >> "$CALLED"\n[ "$1" != test ] || exit 5\n'
DPKG_QUERY = '#!/bin/sh\nshift 2\nfor package; do echo "installed $package"; done\n'
RUN = ["meson setup", "ninja -C"]


@pytest.mark.parametrize(
    "arguments, status, output, calls",
    [(["program.py", "--one", "two words"], 3, "[0.] ['--one', 'two words']", RUN),
     (["missing.py"], 2, "there is no 'missing.py'", []), ([], 5, "", [*RUN, "meson test"])])
def test_dev_python_runs_a_file_or_the_tests(arguments, status, output, calls, tmp_path):
    (called := tmp_path / "called").touch()
    for name, script in {"meson": TOOL, "ninja": TOOL, "apt-get": TOOL, "dpkg-query": DPKG_QUERY}.items():
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "python").symlink_to(pathlib.Path(byre.__file__).parents[1])
    (tmp_path / "program.py").write_text("import byre, sys\nprint(byre.zeros(1), sys.argv[1:])\nsys.exit(3)\n")
    env = os.environ | {"CALLED": str(called), "BYRE_BUILD": str(tmp_path), "PYTHONPATH": ""}
    env["PATH"] = f"{tmp_path}:{env['PATH']}"
    ended = subprocess.run([DEV, "python", *arguments], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert ended.returncode == status and output in ended.stdout + ended.stderr, ended
    assert called.read_text().splitlines() == calls
