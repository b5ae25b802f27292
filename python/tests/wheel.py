# SPDX-License-Identifier: BSL-1.0
"""Runs `pip install .` on a fresh checkout, offline, and checks that only the module is installed: wheel.py SOURCE."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile

SKIPPED = 77
PROGRAM = "import byre\nx = byre.zeros(3)\ny = byre.copy(x)\nx[0] = 1\nprint(byre.__file__, x, y)\n"
PIP_INSTALL = ["-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps"]
PIP_INSTALL += ["--config-settings=setup-args=-Doptimization=0"]  # builds in a third of the time


def output_of(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def main(source):
    missing = [name for name in ("ensurepip", "mesonpy") if importlib.util.find_spec(name) is None]
    # Debian packages pybind11's headers without its Python module.
    if not importlib.util.find_spec("pybind11") and os.system("pkg-config --exists pybind11"):
        missing.append("pybind11")
    if missing or not (source / ".git").exists():
        print("skipped, missing on this machine:", *missing or ["a git checkout"])
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="byre-wheel-") as name:
        checkout, venv, site = (pathlib.Path(name, folder) for folder in ("checkout", "venv", "site"))
        output_of("git", "clone", "--quiet", "--depth=1", f"file://{source}", checkout)
        output_of(sys.executable, "-m", "venv", "--system-site-packages", venv)
        output_of(venv / "bin/python", *PIP_INSTALL, f"--target={site}", checkout)
        found = {str(path.relative_to(site)) for path in site.rglob("*") if path.is_file()}
        found = {name for name in found if not re.search(r"\.dist-info/|__pycache__", name)}
        names = {path.name for path in (checkout / "python/byre").iterdir()} - {"meson.build"}
        names.add("_byre" + sysconfig.get_config_var("EXT_SUFFIX"))
        assert found == {f"byre/{name}" for name in names}, found
        printed = output_of(sys.executable, "-c", PROGRAM, cwd="/", env=os.environ | {"PYTHONPATH": str(site)})
        assert printed == f"{site}/byre/__init__.py [1. 0. 0.] [0. 0. 0.]\n", printed
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
