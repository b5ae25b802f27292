# SPDX-License-Identifier: BSL-1.0
"""Installs byre and uses what was installed: install.py SOURCE_ROOT shared|static pkg-config|cmake"""
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
    """The folder byre now is in, which is not the one it was installed to."""
    setup = [f"--prefix={folder}/installed", f"-Ddefault_library={kind}", "-Dunity=on"]
    others = ["-Dtests=disabled", "-Dbenchmarks=disabled", "-Dexamples=disabled"]
    run("meson", "setup", *setup, *others, "-Dbuildtype=debug", f"{folder}/build", source)
    run("meson", "compile", "-C", f"{folder}/build")
    run("meson", "install", "-C", f"{folder}/build", stdout=subprocess.DEVNULL)
    (folder / "installed").rename(folder / "moved")
    return folder / "moved"


def build_with_pkg_config(prefix, kind, program):
    (found,) = prefix.rglob("byre.pc")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(found.parent)}
    ask = ["pkg-config", "--define-prefix", "--cflags", "--libs", "byre"]
    if kind == "static":
        ask.append("--static")
    flags = run(*ask, env=environment, stdout=subprocess.PIPE).stdout.split()
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    run(*compiler, "-std=c++20", "-o", program, CONSUMER / "consumer.cpp", *flags)
    return found.parent.parent


def build_with_cmake(prefix, _kind, program):
    run("cmake", "-S", CONSUMER, "-B", program.parent, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", program.parent)


def main(source, kind, finder):
    if shutil.which(finder) is None:
        print(f"no {finder} on this machine")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="byre-install-") as name:
        folder = pathlib.Path(name)
        program = folder / "consumer" / "consumer"
        program.parent.mkdir()
        prefix = install(source, kind, folder)
        if finder == "cmake":
            build_with_cmake(prefix, kind, program)
            environment = os.environ  # the program knows where its libraries are
        else:
            libraries = build_with_pkg_config(prefix, kind, program)
            environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries)}
        said = run(program, env=environment, stdout=subprocess.PIPE).stdout
        version = (pathlib.Path(source) / "VERSION").read_text()
        if said != version:
            sys.exit(f"the program says it uses byre {said}, installed was {version}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(str(error))
