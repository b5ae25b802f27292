# SPDX-License-Identifier: BSL-1.0
"""Installs byre, moves it, uses it by pkg-config and by CMake: install.py SOURCE shared|static

Each of the three libraries has a program of its own, which is built and linked with what that library's
.pc file or CMake component says.
"""
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
           "-Dbuildtype=plain", "-Doptimization=0"]
    parts = ("tests", "verification", "stress", "benchmarks", "examples")
    others = [f"-D{part}=disabled" for part in parts]
    run("meson", "setup", *where, *how, *others, f"{folder}/build", source)
    run("meson", "compile", "-C", f"{folder}/build")
    run("meson", "install", "-C", f"{folder}/build", stdout=subprocess.DEVNULL)
    (folder / "installed").rename(folder / "moved")
    return folder / "moved"


LIBRARIES = ("byre", "tensor", "functional")


def compile_by(pkg_config_folder, kind, folder, *options):
    """Each program, by the flags that pkg-config says of its library."""
    ask = ["pkg-config", *options, "--cflags", "--libs"]
    if kind == "static":
        ask.append("--static")
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    for library in LIBRARIES:
        name = "byre" if library == "byre" else f"byre-{library}"
        flags = run(*ask, name, stdout=subprocess.PIPE,
                    env={**os.environ, "PKG_CONFIG_PATH": str(pkg_config_folder)}).stdout.split()
        run(*compiler, "-std=c++20", "-o", folder / library, CONSUMER / f"{library}.cpp", *flags)


def build_with_pkg_config(prefix, kind, folder):
    """Where the programs find their libraries."""
    (found,) = prefix.rglob("byre.pc")
    compile_by(found.parent, kind, folder, f"--define-variable=prefix={prefix}")
    return {"LD_LIBRARY_PATH": str(found.parent.parent)}


def build_uninstalled(prefix, kind, folder):
    """Against the libraries where Meson built them."""
    build = prefix.parent / "build"
    compile_by(build / "meson-uninstalled", kind, folder)
    return {"LD_LIBRARY_PATH": str(build / "core")}


def build_with_cmake(prefix, _kind, folder):
    """Nothing: CMake writes into the programs where their libraries are."""
    run("cmake", "-G", "Ninja", "-S", CONSUMER, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder)
    return {}


def use(source, folder, variables):
    version = (pathlib.Path(source) / "VERSION").read_text()
    for library in LIBRARIES:
        said = run(folder / library, env={**os.environ, **variables}, stdout=subprocess.PIPE).stdout
        if said != version:
            sys.exit(f"{library}: the program says it uses byre {said}, installed was {version}")


def main(source, kind):
    missing = [tool for tool in ("pkg-config", "cmake") if shutil.which(tool) is None]
    if missing:
        print("not on this machine:", *missing)
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="byre-install-") as name:
        folder = pathlib.Path(name)
        prefix = install(source, kind, folder)
        for build in (build_with_pkg_config, build_uninstalled, build_with_cmake):
            programs = folder / build.__name__
            programs.mkdir()
            use(source, programs, build(prefix, kind, programs))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(str(error))
