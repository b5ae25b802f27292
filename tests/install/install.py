# SPDX-License-Identifier: BSL-1.0
"""Installs byre, moves it, uses it by pkg-config and by CMake: install.py SOURCE shared|static"""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
CONSUMER = pathlib.Path(__file__).parent / "consumer"


def run(*command, **options):
    print("+", *command, flush=True)
    return subprocess.run(command, check=True, text=True, **options)


def install(source, kind, folder):
    """The folder byre is in now, which is not the one it was installed to."""
    # Meson's own choice of a libdir depends on the machine, and CMake may not look there.
    where = [f"--prefix={folder}/installed", "--libdir=lib"]
    how = [f"-Ddefault_library={kind}", "-Dunity=on", "-Dunity_size=1000",
           "-Dbuildtype=plain"]
    parts = ("tests", "verification", "stress", "benchmarks", "examples")
    others = [f"-D{part}=disabled" for part in parts]
    run("meson", "setup", *where, *how, *others, f"{folder}/build", source)
    run("meson", "compile", "-C", f"{folder}/build")
    run("meson", "install", "-C", f"{folder}/build", stdout=subprocess.DEVNULL)
    (folder / "installed").rename(folder / "moved")
    return folder / "moved"


def build_with_pkg_config(prefix, kind, program):
    """Where the program finds its libraries."""
    (found,) = prefix.rglob("byre.pc")
    ask = ["pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs", found]
    if kind == "static":
        ask.append("--static")
    flags = run(*ask, stdout=subprocess.PIPE).stdout.split()
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    run(*compiler, "-std=c++20", "-o", program, CONSUMER / "consumer.cpp", *flags)
    return {"LD_LIBRARY_PATH": str(found.parent.parent)}


def build_with_cmake(prefix, _kind, program):
    """Nothing: CMake writes into the program where its libraries are."""
    folder = program.parent
    run("cmake", "-G", "Ninja", "-S", CONSUMER, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder)
    return {}


def use(source, program, variables):
    said = run(program, env={**os.environ, **variables}, stdout=subprocess.PIPE).stdout
    version = (pathlib.Path(source) / "VERSION").read_text()
    if said != version:
        sys.exit(f"the program says it uses byre {said}, installed was {version}")


def main(source, kind):
    missing = [tool for tool in ("pkg-config", "cmake") if shutil.which(tool) is None]
    if missing:
        print("not on this machine:", *missing)
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="byre-install-") as name:
        folder = pathlib.Path(name)
        prefix = install(source, kind, folder)
        for build in (build_with_pkg_config, build_with_cmake):
            program = folder / build.__name__ / "consumer"
            program.parent.mkdir()
            use(source, program, build(prefix, kind, program))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(str(error))
