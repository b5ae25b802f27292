# SPDX-License-Identifier: BSL-1.0
"""`pip install .` of a fresh checkout, without a network: wheel.py SOURCE. It installs the module and nothing else."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
PROGRAM = "import byre\nx = byre.zeros(3)\ny = byre.copy(x)\nx[0] = 1\nprint(byre.__file__, x, y)\n"
LIST_FILES = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]
PIP_INSTALL = ["-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps"]


def output_of(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def files_of(site):
    """Without files that pip writes, and without the platform in an extension's name."""
    names = (str(path.relative_to(site)) for path in site.rglob("*") if path.is_file())
    return {re.sub(r"\.cpython-[^/]*\.so$", ".so", name) for name in names
            if not re.search(r"\.dist-info/|__pycache__", name)}


def main(source):
    missing = [name for name in ("ensurepip", "mesonpy", "pybind11") if importlib.util.find_spec(name) is None]
    if "pybind11" in missing and shutil.which("pkg-config"):  # Debian has its headers apart from its module
        if subprocess.run(["pkg-config", "--exists", "pybind11"]).returncode == 0:
            missing.remove("pybind11")
    if missing or not (source / ".git").exists():
        print("not on this machine:", *missing or ["a git checkout"])
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="byre-wheel-") as name:
        checkout, venv = pathlib.Path(name) / "checkout", pathlib.Path(name) / "venv"
        for name in filter(None, output_of("git", "-C", source, *LIST_FILES).split("\0")):
            if (source / name).is_file():
                (checkout / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / name, checkout / name)
        output_of(sys.executable, "-m", "venv", "--system-site-packages", venv)
        python = venv / "bin/python"
        site = pathlib.Path(output_of(python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip())
        before = files_of(site)
        # An unoptimized build takes a third of the time.
        output_of(python, *PIP_INSTALL, "--config-settings=setup-args=-Doptimization=0", checkout)
        names = {path.name for path in (checkout / "python/byre").iterdir() if path.is_file()} - {"meson.build"}
        assert files_of(site) - before == {f"byre/{name}" for name in names | {"_byre.so"}}, files_of(site) - before
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        printed = output_of(python, "-c", PROGRAM, cwd="/", env=environment)
        assert printed == f"{site}/byre/__init__.py [1. 0. 0.] [0. 0. 0.]\n", printed
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
