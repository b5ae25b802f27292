# SPDX-License-Identifier: BSL-1.0
"""Byre's CMakeLists.txt beside Meson's files, and in a parent that uses CMake: cmake.py SOURCE [TEST...]"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blocks"))

import blocks  # noqa: E402

SKIPPED = 77
SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
PARENT = pathlib.Path(__file__).parent.resolve() / "cmake"
LIBRARIES = ("byre", "byre-tensor", "byre-functional")
PROGRAMS = ("byre_program", "tensor_program", "functional_program")
LIBRARIES_ALONE = [f"-D{part}=disabled" for part in ("tests", "verification", "stress", "benchmarks", "examples")]


def run(*command, **settings):
    print("+", *command, flush=True)
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **settings)


class InCMake(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="byre-cmake-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_well(self, *command):
        done = run(*command)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def configure(self, source, *options, name="cmake"):
        build = self.folder / name
        self.run_well("cmake", "-G", "Ninja", "-S", source, "-B", build, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                      *options)
        return build

    def commands_of(self, build):
        """For each library its sources, and of how they are compiled what other libraries can tell."""
        found = {}
        for unit in json.loads((build / "compile_commands.json").read_text()):
            source = os.path.relpath((pathlib.Path(unit["directory"]) / unit["file"]).resolve(), SOURCE)
            library = re.search(r" -o \S*?(byre[-a-z]*)(?:\.dir|\.so|\.a)\S*/", unit["command"])
            if library is None or library[1] not in LIBRARIES:  # of an example, or for tests
                continue
            flags = r" (-fvisibility\S*|-fno-semantic-interposition|-std=\S*|-fPIC|-D_FILE_OFFSET_BITS\S*)(?= )"
            found.setdefault(library[1], {})[source] = sorted({*re.findall(flags, unit["command"])})
        return found

    def assert_as_with_meson(self, meson_options, cmake_options):
        meson = self.folder / "meson"
        self.run_well("meson", "setup", *LIBRARIES_ALONE, *meson_options, meson, SOURCE)
        cmake = self.configure(SOURCE, *cmake_options)
        self.maxDiff = None
        commands = self.commands_of(cmake)
        self.assertEqual(sorted(commands), sorted(LIBRARIES))
        self.assertEqual(commands, self.commands_of(meson))
        self.assertEqual((cmake / "include/byre/config.hpp").read_text(),
                         (meson / "core/byre/config.hpp").read_text())

    def test_the_libraries_are_those_of_meson(self):
        self.assert_as_with_meson([], ["-DBUILD_SHARED_LIBS=ON"])

    def test_the_options_do_what_those_of_meson_do(self):
        self.assert_as_with_meson(
            ["-Dchecks=enabled", "-Dstats=disabled", "-Dstatic_tls=enabled", "-Ddefault_library=static"],
            ["-DBYRE_CHECKS=ON", "-DBYRE_STATS=OFF", "-DBYRE_STATIC_TLS=ON"])

    def test_each_option_of_the_libraries_is_there(self):
        others = {"tensor", "functional", "python", "python_wheel", "vulkan",
                  *(option[2:].split("=")[0] for option in LIBRARIES_ALONE)}
        meson = set(re.findall(r"^option\('(\w+)'", (SOURCE / "meson_options.txt").read_text(), re.M))
        cmake = re.findall(r"^option\(BYRE_(\w+)", (SOURCE / "CMakeLists.txt").read_text(), re.M)
        self.assertEqual(meson - others, {option.lower() for option in cmake})

    def test_a_parent_without_the_json_library_has_the_core(self):
        source = self.folder / "parent"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.16)\nproject(parent CXX)\nadd_subdirectory({SOURCE} byre)\n"
            "foreach(library byre tensor functional)\nif(TARGET byre::${library})\n"
            "message(\"there is ${library}.\")\nendif()\nendforeach()\n")
        for option, there in (("OFF", ["byre", "tensor", "functional"]), ("ON", ["byre"])):
            done = self.run_well("cmake", "-G", "Ninja", "-S", source, "-B", tempfile.mkdtemp(dir=self.folder),
                                 f"-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json={option}")
            self.assertEqual(re.findall(r"there is (\w+)\.", done), there)
            self.assertEqual("apt-get install nlohmann-json3-dev" in " ".join(done.split()), option == "ON")

    def build(self, by, programs, *options):
        # As one file, which takes a quarter of the time, and which a parent may ask for.
        build = self.configure(
            PARENT, f"-DBYRE_SOURCE={SOURCE}", f"-DBYRE_BY={by}", "-DCMAKE_UNITY_BUILD=ON",
            "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0",
            "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Werror", *options)
        self.run_well("cmake", "--build", build, "--target", *programs)
        for program in programs:
            version = (SOURCE / "VERSION").read_text().strip()
            self.assertRegex(self.run_well(build / program), f"byre {re.escape(version)}: good")
        return build

    def test_a_parent_adds_the_folder_and_links_each_library(self):
        build = self.build("add_subdirectory", PROGRAMS, "-DBUILD_SHARED_LIBS=ON")
        version = (SOURCE / "VERSION").read_text().strip()
        for library in LIBRARIES:
            self.assertTrue((build / f"byre/lib{library}.so.{version}").is_file(), list(build.rglob("*.so*")))
            self.assertTrue((build / f"byre/lib{library}.so.{version.split('.')[0]}").is_symlink())

    def test_a_parent_fetches_it_as_the_readme_says_and_builds_no_more_than_it_links(self):
        [lines] = [block.text for block in blocks.blocks_of(SOURCE / "README.md", SOURCE) if block.language == "cmake"]
        readme = self.folder / "readme.cmake"
        readme.write_text(lines)
        build = self.build("FetchContent", ["my_program"], f"-DBYRE_README={readme}",
                           f"-DFETCHCONTENT_SOURCE_DIR_BYRE={SOURCE}")
        self.assertEqual([each.name for each in build.rglob("libbyre*.*")], ["libbyre.a"])

    def test_without_what_tensors_need_there_is_the_core_alone_and_what_to_install_is_said(self):
        for missing, package in (("ZLIB", "zlib1g-dev"), ("nlohmann_json", "nlohmann-json3-dev")):
            build = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
            done = run("cmake", "-G", "Ninja", "-S", SOURCE, "-B", build,
                       "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DCMAKE_DISABLE_FIND_PACKAGE_{missing}=ON")
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertRegex(" ".join(done.stdout.split()),
                             f"byre::tensor and byre::functional are left out.*apt-get install {package}")
            self.assertEqual(list(self.commands_of(build)), ["byre"])

    def test_configuring_says_what_is_wrong_and_what_to_do(self):
        compiler = self.folder / "g++-of-before"
        compiler.write_text("#!/bin/sh\nexec g++ -U__GNUC__ -D__GNUC__=11 \"$@\"\n")
        compiler.chmod(0o755)
        options = self.folder / "options.cmake"
        options.write_text("add_compile_options(-fno-exceptions)\n")  # as a parent may have it
        for option, said in {
            f"-DCMAKE_CXX_COMPILER={compiler}": "needs g\\+\\+ 12",
            f"-DCMAKE_PROJECT_byre_INCLUDE={options}": "exceptions are off.*COMPILE_OPTIONS",
            "-DCMAKE_CXX_FLAGS=-fno-exceptions": "exceptions are off",
            "-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON": "apt-get install libboost-atomic-dev libboost-thread-dev",
        }.items():
            with self.subTest(option):
                done = run("cmake", "-G", "Ninja", "-S", SOURCE, "-B", tempfile.mkdtemp(dir=self.folder), option)
                self.assertNotEqual(done.returncode, 0, done.stdout)
                self.assertRegex(" ".join(done.stdout.split()), said)


if __name__ == "__main__":
    if shutil.which("cmake") is None:
        print("there is no cmake on this machine")
        sys.exit(SKIPPED)
    unittest.main()
