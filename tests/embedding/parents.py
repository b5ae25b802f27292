# SPDX-License-Identifier: BSL-1.0
"""Builds and runs parent projects that use byre:

  parents.py SOURCE meson LIBRARY [OPTION...]  byre as a subproject of Meson, with LIBRARY and its dependencies
  parents.py SOURCE cmake                      byre by add_subdirectory and FetchContent, compared with Meson
  parents.py SOURCE installed shared|static    byre installed, moved, and found by pkg-config and by CMake
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "doc_examples"))

import doc_examples  # noqa: E402

SKIPPED = 77
NAMES = {"byre": "byre", "byre-tensor": "tensor", "byre-functional": "functional"}
PROGRAMS = [f"{name}_program" for name in NAMES.values()]
# The rooms of the libraries above the core.
ROOMS = {"byre-tensor": "shadow|tensor|interop", "byre-functional": "functional"}
COMPILER = shlex.split(os.environ.get("CXX", "c++"))
LIBRARIES_ALONE = [f"-D{part}=disabled" for part in ("tests", "verification", "stress", "benchmarks", "examples")]
# Compiles byre as one file, which takes a quarter of the time, and which a parent may request.
AS_ONE_FILE = ["-Dunity=on", "-Dunity_size=1000", "-Doptimization=0"]
CMAKE = ["cmake", "-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]


def run(*command, is_refused=False, **variables):
    """Returns the output of a command. The command has to succeed, or to fail if `is_refused` is true."""
    print("+", *command, flush=True)
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **variables})
    expect((done.returncode != 0) == is_refused, f"{done.stdout}\nexit status {done.returncode}")
    return done.stdout


def expect(holds, said):
    if not holds:
        sys.exit(f"wrong: {said}")


def expect_equal(found, expected, what):
    expect(found == expected, f"{what} are {found}, expected {expected}")


def code_in_readme(source, language):
    blocks = doc_examples.blocks_of(source / "README.md", source)
    return "".join(block.text for block in blocks if block.language == language)


def version_of(source):
    return (source / "VERSION").read_text().strip()


def runs_well(source, program, **variables):
    expect(f"byre {version_of(source)}: good" in run(program, **variables), f"{program} did not print that byre is good")


def compiled_in(build):
    return json.loads((build / "compile_commands.json").read_text())


def expect_no_more_than(library, build):
    """Checks that byre builds only LIBRARY and its dependencies, and no tests."""
    wanted = list(NAMES)[:list(NAMES).index(library) + 1]
    targets, tests = (json.loads(run("meson", "introspect", build, what)) for what in ("--targets", "--tests"))
    expect_equal([each["name"] for each in targets if "/subprojects/byre/" in each["defined_in"]], wanted,
                 "byre's targets")
    expect({each["name"] for each in tests} <= {"the_parent_runs", "copies_share_nothing"}, f"tests of byre: {tests}")
    units = compiled_in(build)
    # The warnings of a parent must not apply to headers of byre.
    own = [unit["command"] for unit in units
           if not re.search("(^|/)subprojects/", unit["output"]) and "subprojects/byre/core" in unit["command"]]
    expect(own and all(re.search(r"-isystem\s*\S*subprojects/byre/core", command) for command in own),
           "the headers of byre are not system headers in the parent")
    files = "\n".join([unit["file"] + "\n" + ((build / unit["file"]).read_text() if "-unity" in unit["file"] else "")
                       for unit in units])
    expect("/byre/cow/" in files, "no source of byre is compiled, so this test checks nothing")
    for other in ROOMS:
        expect(other in wanted or not re.search(f"/byre/(.*/)?({ROOMS[other]})/", files), f"{other} is compiled")


def meson(source, folder, library, *options):
    arguments = [word for option in options if option.startswith("-Dcpp_args=") for word in option[11:].split()]
    probe = [*COMPILER, *arguments, "-fsyntax-only", "-x", "c++", "-"]
    if shutil.which(COMPILER[0]) is None or subprocess.run(probe, input="#include <vector>", text=True).returncode:
        print("skipped, this fails:", *probe)
        return SKIPPED
    parent, build = folder / "parent", folder / "build"
    shutil.copytree(HERE / "meson", parent)
    shutil.copytree(HERE / "programs", parent / "programs")
    for name in ("subprojects", "readme"):
        (parent / name).mkdir()
    (parent / "subprojects/byre").symlink_to(source, target_is_directory=True)
    (parent / "subprojects/byre.wrap").write_text(code_in_readme(source, "ini"))
    lines = {re.search(r"dependency\('([\w-]+)'", line)[1]: line
             for line in code_in_readme(source, "meson").splitlines()}
    expect_equal(sorted(lines), sorted(NAMES), "the libraries in the README")
    (parent / "readme/meson.build").write_text(lines[library] + "\n")
    run("meson", "setup", "-Dwerror=true", "-Ddebug=false", f"-Dlibrary={library}", *options, build, parent)
    run("meson", "compile", "-C", build)
    run("meson", "test", "-C", build, "--print-errorlogs")
    return expect_no_more_than(library, build)


def commands_of(build, source):
    """The sources of each library, each with the compiler flags that affect users of the library."""
    found = {}
    for unit in compiled_in(build):
        file = os.path.relpath((pathlib.Path(unit["directory"]) / unit["file"]).resolve(), source)
        library = re.search(r" -o \S*?(byre[-a-z]*)(?:\.dir|\.so|\.a)\S*/", unit["command"])
        if library and library[1] in NAMES:
            flags = r" (-fvisibility\S*|-fno-semantic-interposition|-std=\S*|-fPIC|-D_FILE_OFFSET_BITS\S*)(?= )"
            found.setdefault(library[1], {})[file] = sorted({*re.findall(flags, unit["command"])})
    return found


def cmake_parent(source, build, by, programs, *options):
    run(*CMAKE, "-S", HERE / "cmake", "-B", build, f"-DBYRE_BY={by}", "-DCMAKE_UNITY_BUILD=ON",
        "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0",
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Werror", *options)
    run("cmake", "--build", build, "--target", *programs)
    for program in programs:
        runs_well(source, build / program)


def compiler_without_boost(folder):
    """A compiler that searches its usual folders for headers, in which no header of Boost is."""
    printed = subprocess.run([*COMPILER, "-E", "-x", "c++", "-v", os.devnull], text=True, capture_output=True).stderr
    searched = re.search(r"#include <\.\.\.> search starts here:\n(.*?)End of search list", printed, re.S)[1].split()
    for number, there in enumerate(searched):
        if (pathlib.Path(there) / "boost").exists():
            searched[number] = folder / f"headers{number}"
            searched[number].mkdir()
            for header in pathlib.Path(there).iterdir():
                if header.name != "boost":
                    (searched[number] / header.name).symlink_to(header)
    compiler = folder / "without_boost"
    flags = " ".join(f"-isystem {shlex.quote(str(each))}" for each in searched)
    compiler.write_text(f'#!/bin/sh\nexec {shlex.join(COMPILER)} -nostdinc {flags} "$@"\n')
    compiler.chmod(0o755)
    probe = subprocess.run([compiler, "-fsyntax-only", "-x", "c++", "-"], input="#include <boost/version.hpp>\n",
                           text=True, capture_output=True)
    expect(probe.returncode != 0, "the headers of Boost are still found")
    return compiler


def cmake(source, folder):
    # CMake must offer the libraries and the options of Meson.
    options = set(re.findall(r"^option\('(\w+)'", (source / "meson_options.txt").read_text(), re.M))
    options -= {"tensor", "functional", "python", "python_wheel", "vulkan", "without"} | {each[2:-9] for each in LIBRARIES_ALONE}
    of_cmake = set(re.findall(r"^(?:option|set)\(BYRE_(\w+)", (source / "CMakeLists.txt").read_text(), re.M))
    expect_equal({each.lower() for each in of_cmake}, options, "the options")
    for number, (of_meson, of_cmake) in enumerate([
        ([], ["-DBUILD_SHARED_LIBS=ON"]),
        (["-Dsync=standard", "-Dchecks=enabled", "-Dstats=disabled", "-Dnpz=disabled", "-Dstatic_tls=enabled",
          "-Dinterface_c=disabled", "-Ddefault_library=static"],
         ["-DBYRE_SYNC=standard", "-DBYRE_CHECKS=ON", "-DBYRE_STATS=OFF", "-DBYRE_NPZ=OFF", "-DBYRE_STATIC_TLS=ON",
          "-DBYRE_INTERFACE_C=OFF"]),
        (["-Dsync=single_thread"], ["-DBYRE_SYNC=single_thread", "-DBUILD_SHARED_LIBS=ON"]),
    ]):
        builds = [folder / f"meson{number}", folder / f"cmake{number}"]
        run("meson", "setup", *LIBRARIES_ALONE, *of_meson, builds[0], source)
        run(*CMAKE, "-S", source, "-B", builds[1], *of_cmake)
        commands = [commands_of(build, source) for build in builds]
        expect_equal(sorted(commands[1]), sorted(NAMES), "the libraries")
        expect_equal(commands[1], commands[0], "the commands")
        headers = [builds[0] / "core/byre/config.hpp", builds[1] / "include/byre/config.hpp"]
        expect_equal(headers[1].read_text(), headers[0].read_text(), "the contents of config.hpp")
        config = (builds[0] / "core/install/byreConfig.cmake").read_text()
        expect_equal("find_dependency(Threads)" in config, number != 2, "whether byreConfig.cmake needs threads")
        for text in (config, (builds[0] / "meson-private/byre.pc").read_text()):
            expect_equal("boost" in text.lower(), number == 0, "whether an installed byre needs Boost")
    # A parent adds the folder, or fetches it as in the README. It builds only the libraries that it links.
    added, fetched, readme = folder / "added", folder / "fetched", folder / "readme.cmake"
    cmake_parent(source, added, "add_subdirectory", PROGRAMS, f"-DBYRE_SOURCE={source}", "-DBUILD_SHARED_LIBS=ON",
                 "-DBYRE_SYNC=standard", f"-DCMAKE_CXX_COMPILER={compiler_without_boost(folder)}")
    for library in NAMES:
        for end in (version_of(source), version_of(source).split(".")[0]):
            expect((added / f"byre/lib{library}.so.{end}").is_file(), f"no lib{library}.so.{end}")
    readme.write_text(code_in_readme(source, "cmake"))
    cmake_parent(source, fetched, "FetchContent", ["my_program"], f"-DBYRE_README={readme}", "-DBYRE_INTERFACE_C=OFF",
                 f"-DFETCHCONTENT_SOURCE_DIR_BYRE={source}")
    expect_equal([each.name for each in fetched.rglob("libbyre*.*")], ["libbyre.a"], "the libraries that are built")
    # Without the dependencies of tensors only the core is built. Every other problem is an error.
    compiler, options = folder / "g++-11", folder / "options.cmake"
    compiler.write_text('#!/bin/sh\nexec g++ -U__GNUC__ -D__GNUC__=11 "$@"\n')
    compiler.chmod(0o755)
    options.write_text("add_compile_options(-fno-exceptions)\n")  # as a parent may do
    left_out = "byre::tensor and byre::functional are not built.*apt-get install "
    for option, said, is_refused in [
        ("-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON", left_out + "nlohmann-json3-dev", False),
        ("-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON", "apt-get install libboost-atomic-dev libboost-thread-dev", True),
        (f"-DCMAKE_CXX_COMPILER={compiler}", "needs g\\+\\+ 12", True),
        (f"-DCMAKE_PROJECT_byre_INCLUDE={options}", "exceptions are off.*COMPILE_OPTIONS", True),
        ("-DCMAKE_CXX_FLAGS=-fno-exceptions", "exceptions are off", True),
        ("-DBYRE_SYNC=boots", "BYRE_SYNC is 'boots'. Set it to boost, standard or single_thread", True),
    ]:
        build = pathlib.Path(tempfile.mkdtemp(dir=folder))
        printed = " ".join(run(*CMAKE, "-S", source, "-B", build, option, is_refused=is_refused).split())
        expect(re.search(said, printed), f"{option} prints\n{printed}\nwhich lacks\n{said}")
        expect(is_refused or list(commands_of(build, source)) == ["byre"], f"{option} builds more than the core")


def by_pkg_config(source, folder, kind, where, libraries, *options):
    """Builds and runs each program with the flags of pkg-config for its library."""
    for library, name in NAMES.items():
        flags = run("pkg-config", *options, "--cflags", "--libs", *["--static"] * (kind == "static"), library,
                    PKG_CONFIG_PATH=str(where)).split()
        run(*COMPILER, "-std=c++20", "-o", folder / name, HERE / f"programs/{name}.cpp", *flags)
        runs_well(source, folder / name, LD_LIBRARY_PATH=str(libraries))
    # A program in C: only the library contains C++, so the compiler of C++ links a static one.
    flags = {what: run("pkg-config", *options, f"--{what}", *["--static"] * (kind == "static"), "byre",
                       PKG_CONFIG_PATH=str(where)).split() for what in ("cflags", "libs")}
    run("cc", "-std=c11", "-pedantic", "-Werror", "-c", "-o", folder / "c.o", HERE / "programs/c.c", *flags["cflags"])
    run(*(COMPILER if kind == "static" else ["cc"]), "-o", folder / "c", folder / "c.o", *flags["libs"])
    runs_well(source, folder / "c", LD_LIBRARY_PATH=str(libraries))


def installed(source, folder, kind):
    # --libdir: the default of Meson depends on the machine, and CMake may not search there.
    build, prefix = folder / "build", folder / "moved"
    run("meson", "setup", f"--prefix={folder}/installed", "--libdir=lib", f"-Ddefault_library={kind}", *AS_ONE_FILE,
        "-Dbuildtype=plain", *LIBRARIES_ALONE, build, source)
    run("meson", "compile", "-C", build)
    run("meson", "install", "-C", build)
    (folder / "installed").rename(prefix)
    by_pkg_config(source, folder, kind, build / "meson-uninstalled", build / "core")
    for header in ("byre.h", "byre_c.hpp"):
        expect((prefix / "include/byre" / header).is_file(), f"{header} is not installed")
    (found,) = prefix.rglob("byre.pc")
    by_pkg_config(source, folder, kind, found.parent, prefix / "lib", f"--define-variable=prefix={prefix}")
    cmake_parent(source, folder / "cmake", "find_package", PROGRAMS, f"-DCMAKE_PREFIX_PATH={prefix}")


def main(source, how, *arguments):
    missing = [tool for tool in ("pkg-config", "cmake") if how != "meson" and shutil.which(tool) is None]
    if missing:
        print("skipped, not found:", *missing)
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="byre-parents-") as folder:
        return {"meson": meson, "cmake": cmake, "installed": installed}[how](
            pathlib.Path(source).resolve(), pathlib.Path(folder), *arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
