# SPDX-License-Identifier: BSL-1.0
"""Configures byre as it cannot be built: refusals.py SOURCE. Each time Meson says what is wrong, and what to do."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()

PARENT = """project('parent', 'cpp', default_options: ['cpp_std=c++17'])
dependency('byre', fallback: 'byre')
"""

CROSS = """[binaries]
cpp = 'x86_64-w64-mingw32-g++'
ar = 'x86_64-w64-mingw32-ar'
[host_machine]
system = 'windows'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
"""


def need(tool):
    if shutil.which(tool) is None:
        raise unittest.SkipTest(f"there is no {tool} on this machine")


class Configuring(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def setup(self, *options, source=SOURCE, **variables):
        build = self.folder / "build"
        shutil.rmtree(build, ignore_errors=True)
        command = ["meson", "setup", *options, build, source]
        return subprocess.run(command, env={**os.environ, "CXX": "g++", **variables}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)

    def assert_refused(self, said, *options, **settings):
        self.expect_refusal(said, self.setup(*options, **settings))

    def expect_refusal(self, said, done):
        self.assertNotEqual(done.returncode, 0, done.stdout)
        # What speaks is byre, not what failed inside it.
        message = done.stdout[done.stdout.rfind("core/requirements/"):]
        for part in said:
            self.assertIn(part, message, done.stdout)

    def posing_as(self, real, edit):
        """A compiler that says that it is of another version."""
        need(real)
        wrapper = self.folder / f"other-{real}"
        wrapper.write_text(f"#!/bin/sh\ncase \"$*\" in\n*-dM* | --version) {real} \"$@\" | sed '{edit}' ;;\n"
                           f"*) exec {real} \"$@\" ;;\nesac\n")
        wrapper.chmod(0o755)
        return str(wrapper)

    def test_refuses_compilers_that_are_too_old(self):
        for real, edit, found in [
            ("g++", "s/__GNUC__ .*/__GNUC__ 11/", "gcc 11."),
            ("g++", "s/__GNUC__ .*/__GNUC__ 7/", "gcc 7."),
            ("clang++", "s/clang version [0-9]*/clang version 13/", "clang 13."),
        ]:
            with self.subTest(found):
                said = [found, "needs g++ 12 or clang 14", "CXX="]
                self.assert_refused(said, CXX=self.posing_as(real, edit))

    def test_refuses_standards_before_20(self):
        for standard in ["c++17", "gnu++17", "none"]:
            with self.subTest(standard):
                self.assert_refused([f"cpp_std={standard}", "-Dcpp_std=c++20"], f"-Dcpp_std={standard}")

    def test_refuses_to_go_without_exceptions(self):
        for option in ["-Dcpp_eh=none", "-Dcpp_args=-fno-exceptions"]:
            with self.subTest(option):
                self.assert_refused(["exceptions are off", "-Dcpp_eh=default"], option)

    def test_refuses_systems_without_posix(self):
        headers = self.folder / "headers/sys"
        headers.mkdir(parents=True)
        (headers / "mman.h").write_text("#error there is none\n")
        said = ["no POSIX threads and mmap", "runs on Linux"]
        self.assert_refused(said, f"-Dcpp_args=-I{headers.parent}")

    def test_refuses_windows(self):
        need("x86_64-w64-mingw32-g++")
        cross = self.folder / "cross"
        cross.write_text(CROSS)
        self.assert_refused(["mmap for windows", "runs on Linux", "WSL"], f"--cross-file={cross}")

    def without_boost(self):
        (self.folder / "empty").mkdir()
        return {"BOOST_ROOT": str(self.folder / "empty")}

    # Fetching is forbidden, which fails as a machine without a network does.
    def test_names_the_packages_of_a_boost_that_is_not_there(self):
        said = ["Boost 1.74", "apt-get install libboost-atomic-dev libboost-thread-dev", "BOOST_ROOT"]
        self.assert_refused(said, "--wrap-mode=nodownload", **self.without_boost())

    def without_zlib(self):
        """One that is too old, where a compiler looks first, and nothing that knows of another."""
        (self.folder / "old").mkdir()
        (self.folder / "old/zlib.h").write_text('#define ZLIB_VERSION "1.2.8"\n')
        options = ["--wrap-mode=nodownload", f"-Dcpp_args=-I{self.folder}/old"]
        return options, {"PKG_CONFIG": "false", "CMAKE": "false"}

    def test_names_the_package_of_a_zlib_that_is_not_there(self):
        options, variables = self.without_zlib()
        said = ["zlib 1.2.9", "apt-get install zlib1g-dev", "-Dtensor=disabled -Dfunctional=disabled"]
        self.assert_refused(said, *options, **variables)

    def test_needs_no_zlib_for_the_core_alone(self):
        options, variables = self.without_zlib()
        for part in ["tensor", "functional", "tests", "verification", "stress", "benchmarks", "examples"]:
            options.append(f"-D{part}=disabled")
        done = self.setup(*options, **variables)
        self.assertEqual(done.returncode, 0, done.stdout)

    def setup_without_json(self, *options, **settings):
        """Neither pkg-config nor CMake, which Meson asks, knows the library."""
        native = self.folder / "native"
        native.write_text("[binaries]\ncmake = 'false'\n")
        return self.setup(f"--native-file={native}", "--wrap-mode=nodownload", *options,
                          PKG_CONFIG_LIBDIR=str(self.folder), **settings)

    def test_names_the_package_of_a_json_library_that_is_not_there_and_what_works_without(self):
        alone = [f"-D{part}=disabled" for part in ("tests", "verification", "stress", "benchmarks", "examples")]
        core_alone = ["-Dtensor=disabled", "-Dfunctional=disabled"]
        said = ["nlohmann_json 3.11", "apt-get install nlohmann-json3-dev", " ".join(core_alone)]
        self.expect_refusal(said, self.setup_without_json(*alone))
        self.expect_refusal(said, self.setup_without_json(*alone, "-Dfunctional=disabled"))
        done = self.setup_without_json(*alone, *core_alone)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_asks_no_json_library_of_parents_that_want_the_core(self):
        done = self.setup_without_json("-Dbyre:cpp_std=c++20", source=self.parent())
        self.assertEqual(done.returncode, 0, done.stdout)

    def parent(self):
        parent = self.folder / "parent"
        (parent / "subprojects").mkdir(parents=True)
        (parent / "subprojects/byre").symlink_to(SOURCE, target_is_directory=True)
        (parent / "meson.build").write_text(PARENT)
        return parent

    def test_refuses_in_a_parent_what_it_refuses_alone(self):
        parent = self.parent()
        said = ["exceptions are off", "-Dbyre:cpp_eh=default"]
        self.assert_refused(said, "-Dcpp_eh=none", source=parent)
        self.assert_refused(["cpp_std=c++17", "-Dbyre:cpp_std=c++20"], "-Dbyre:cpp_std=c++17", source=parent)
        said = ["apt-get install libboost-atomic-dev"]
        self.assert_refused(said, "--wrap-mode=nodownload", source=parent, **self.without_boost())

    def test_accepts_parents_of_another_standard_or_without_exceptions(self):
        done = self.setup("-Dcpp_eh=none", "-Dbyre:cpp_eh=default", source=self.parent())
        self.assertEqual(done.returncode, 0, done.stdout)
        commands = (self.folder / "build/compile_commands.json").read_text()
        self.assertIn("-std=c++20", commands)
        self.assertNotIn("-std=c++17", commands)
        self.assertNotIn("-fno-exceptions", commands)
        # What includes byre is compiled as the parent is.
        header = self.folder / "build/subprojects/byre/core/byre/config.hpp"
        done = subprocess.run(["g++", "-std=c++17", "-fsyntax-only", header], text=True, capture_output=True)
        self.assertIn("byre's headers are C++20", done.stderr)


if __name__ == "__main__":
    unittest.main()
