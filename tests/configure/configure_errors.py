# SPDX-License-Identifier: BSL-1.0
"""configure_errors.py SOURCE: configures byre with supported and unsupported compilers, options and dependencies.
Checks that each error states the problem and a remedy."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CROSS = """[binaries]
cpp = 'x86_64-w64-mingw32-g++'
ar = 'x86_64-w64-mingw32-ar'
[host_machine]
system = 'windows'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
"""
PARENT = """project('parent', 'cpp', default_options: ['cpp_std=c++17'])
dependency('byre', fallback: 'byre')
"""
ALONE = [f"-D{part}=disabled" for part in ("tests", "verification", "stress", "benchmarks", "examples")]
CORE_ALONE = ["-Dtensor=disabled", "-Dfunctional=disabled"]
NO_DOWNLOAD = "--wrap-mode=nodownload"  # as on a machine without a network
BOOST = ["Boost 1.74", "apt-get install libboost-atomic-dev libboost-thread-dev", "BOOST_ROOT"]
JSON = ["nlohmann_json 3.11", "apt-get install nlohmann-json3-dev", " ".join(CORE_ALONE)]
NPZ = ["libzip 1.7", "apt-get install libzip-dev zlib1g-dev", "-Dnpz=disabled"]
NO_EXCEPTIONS = ["exceptions are off"]


def written(folder, name, text, mode=0o644):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def compiler_of_version(folder, name, edit):
    """A script that runs the compiler `name`, and edits its version by `edit`, a command of sed."""
    return str(written(folder, f"other-{name}", f'#!/bin/sh\ncase "$*" in\n*-dM* | --version) {name} "$@" | '
                       f"sed '{edit}' ;;\n*) exec {name} \"$@\" ;;\nesac\n", 0o755))


def cases(folder, source):
    """Yields project, options, environment variables, and parts of the error; no parts if configuring succeeds."""
    parent = written(folder, "parent/meson.build", PARENT).parent
    (parent / "subprojects").mkdir()
    (parent / "subprojects/byre").symlink_to(source, target_is_directory=True)
    old = [("g++", "s/__GNUC__ .*/__GNUC__ 11/", "gcc 11."), ("g++", "s/__GNUC__ .*/__GNUC__ 7/", "gcc 7.")]
    if shutil.which("clang++"):
        old.append(("clang++", "s/clang version [0-9]*/clang version 13/", "clang 13."))
    for name, edit, found in old:
        yield source, [], {"CXX": compiler_of_version(folder, name, edit)}, [found, "needs g++ 12 or clang 14", "CXX="]
    for standard in "c++17", "gnu++17", "none":
        yield source, [f"-Dcpp_std={standard}"], {}, [f"cpp_std={standard}", "-Dcpp_std=c++20"]
    yield parent, ["-Dbyre:cpp_std=c++17"], {}, ["cpp_std=c++17", "-Dbyre:cpp_std=c++20"]
    for option in "-Dcpp_eh=none", "-Dcpp_args=-fno-exceptions":
        yield source, [option], {}, [*NO_EXCEPTIONS, "-Dcpp_eh=default"]
    yield parent, ["-Dcpp_eh=none"], {}, [*NO_EXCEPTIONS, "-Dbyre:cpp_eh=default"]

    headers = written(folder, "headers/sys/mman.h", "#error not found\n").parent.parent
    yield source, [f"-Dcpp_args=-I{headers}"], {}, ["no POSIX threads and mmap", "runs on Linux"]
    if shutil.which("x86_64-w64-mingw32-g++"):
        cross = written(folder, "cross", CROSS)
        yield source, [f"--cross-file={cross}", NO_DOWNLOAD], {}, ["Boost 1.74", "-Dsync=standard"]

    without_boost = {"BOOST_ROOT": str(folder / "headers")}
    yield source, [NO_DOWNLOAD], without_boost, BOOST
    yield parent, [NO_DOWNLOAD], without_boost, BOOST
    # Neither pkg-config nor CMake finds nlohmann_json.
    native = written(folder, "native", "[binaries]\ncmake = 'false'\n")
    without_json = [NO_DOWNLOAD, f"--native-file={native}"], {"PKG_CONFIG_LIBDIR": str(folder)}
    for parts, said in ([], JSON), (CORE_ALONE[1:], JSON), (CORE_ALONE, []):
        yield source, [*without_json[0], *ALONE, *parts], without_json[1], said
    yield parent, [*without_json[0], "-Dbyre:cpp_std=c++20"], without_json[1], []
    # libzip is optional, for .npz files.
    written(folder, "json/nlohmann_json.pc", "Name: n\nDescription: j\nVersion: 3.11.2\n")
    for options, said in ([], []), (["-Dnpz=enabled"], NPZ):
        yield source, [*without_json[0], *ALONE, *options], {"PKG_CONFIG_LIBDIR": str(folder / "json")}, said
    # The last case, because main() inspects this build.
    yield parent, ["-Dcpp_eh=none", "-Dbyre:cpp_eh=default"], {}, []


def main(source):
    source, wrong = pathlib.Path(source).resolve(), 0
    with tempfile.TemporaryDirectory(prefix="byre-configure-") as name:
        folder = pathlib.Path(name)
        build = folder / "build"
        for project, options, variables, said in cases(folder, source):
            shutil.rmtree(build, ignore_errors=True)
            command = ["meson", "setup", *options, build, project]
            done = subprocess.run(command, env={**os.environ, "CXX": "g++", **variables}, text=True, timeout=120,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            # The message of byre, without the output of checks that failed before.
            message = done.stdout[done.stdout.rfind("core/requirements/"):]
            if (done.returncode != 0) != bool(said) or not all(part in message for part in said):
                print("wrong:", *command, variables, "ends with", done.returncode, "and\n" + done.stdout)
                print("expected:", said or "success")
                wrong += 1
        # A parent with another standard, or without exceptions, does not change how byre is compiled.
        commands = (build / "compile_commands.json").read_text()
        header = build / "subprojects/byre/core/byre/config.hpp"
        done = subprocess.run(["g++", "-std=c++17", "-fsyntax-only", header], text=True, capture_output=True)
        if "-std=c++20" not in commands or "-std=c++17" in commands or "-fno-exceptions" in commands or \
                "byre's headers require C++20" not in done.stderr:
            print("wrong: a parent with C++17 and without exceptions", commands, done.stderr)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
