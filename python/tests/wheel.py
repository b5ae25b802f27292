# SPDX-License-Identifier: BSL-1.0
"""`pip install .` of a fresh checkout, without a network: wheel.py SOURCE

What is installed is the module alone, and it is imported from another folder.
"""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
PROGRAM = """
import byre
x = byre.zeros(3)
y = x.copy()
x[0] = 1
print(byre.__file__, x, y)
"""


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, **options)


def check_out(source, folder):
    """The files that git has, as they are now: none that a build has left."""
    listed = subprocess.run(
        ["git", "-C", source, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"],
        check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        path = pathlib.Path(source) / name
        if path.is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, folder / name)


def files_of(site):
    """Without what pip writes of a package, and without the platform in an extension's name."""
    names = (str(path.relative_to(site)) for path in site.rglob("*") if path.is_file())
    return {re.sub(r"\.cpython-[^/]*\.so$", ".so", name) for name in names
            if not re.search(r"\.dist-info/|__pycache__", name)}


def module_of(source):
    """All that is beside the extension in the sources, and that."""
    names = {path.name for path in (pathlib.Path(source) / "python/byre").iterdir() if path.is_file()}
    return {f"byre/{name}" for name in names - {"meson.build"} | {"_byre.so"}}


def main(source):
    missing = [name for name in ("ensurepip", "mesonpy", "pybind11") if importlib.util.find_spec(name) is None]
    if "pybind11" in missing and shutil.which("pkg-config"):
        # Debian has its headers apart from its module.
        if subprocess.run(["pkg-config", "--exists", "pybind11"]).returncode == 0:
            missing.remove("pybind11")
    if missing or not (pathlib.Path(source) / ".git").exists():
        print("not on this machine:", *missing or ["a git checkout"])
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="byre-wheel-") as name:
        folder = pathlib.Path(name)
        check_out(source, folder / "checkout")
        run(sys.executable, "-m", "venv", "--system-site-packages", folder / "venv")
        python = folder / "venv/bin/python"
        site = pathlib.Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))",
                                stdout=subprocess.PIPE).stdout.strip())
        before = files_of(site)
        # Not optimized, for a third of the time.
        run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps",
            "--config-settings=setup-args=-Doptimization=0", folder / "checkout")
        wanted = module_of(folder / "checkout")
        if (installed := files_of(site) - before) != wanted:
            sys.exit(f"installed are {sorted(installed)}, and not {sorted(wanted)}")
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        said = run(python, "-c", PROGRAM, cwd="/", env=environment, stdout=subprocess.PIPE).stdout
        if said != f"{site}/byre/__init__.py [1. 0. 0.] [0. 0. 0.]\n":
            sys.exit(f"the program says {said}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(str(error))
