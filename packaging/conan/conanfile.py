# SPDX-License-Identifier: BSL-1.0
"""byre for Conan 2: `conan create packaging/conan`, in a checkout. Components are byre, tensor and functional."""
import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load, rmdir
from conan.tools.gnu import PkgConfigDeps
from conan.tools.layout import basic_layout
from conan.tools.meson import Meson, MesonToolchain

LIBRARIES_ALONE = ("tests", "verification", "stress", "benchmarks", "examples", "python", "vulkan")


class Byre(ConanFile):
    name = "byre"
    description = "Copy-on-write storage: lazy copies of large buffers, safe across threads"
    license = "BSL-1.0"
    topics = ("copy-on-write", "tensor", "concurrency")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "checks": [True, False],
        "stats": [True, False],
        "static_tls": [True, False],
        "tensor": [True, False],
        "functional": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "checks": False,
        "stats": True,
        "static_tls": False,
        "tensor": True,
        "functional": True,
        "boost/*:without_atomic": False,
        "boost/*:without_thread": False,
    }
    implements = ["auto_shared_fpic"]

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    @property
    def _has_tensor(self):
        return bool(self.options.get_safe("tensor") or self.options.get_safe("functional"))

    def set_version(self):
        self.version = load(self, os.path.join(self._root, "VERSION")).strip()

    def export_sources(self):
        for pattern in ("VERSION", "LICENSE", "meson.build", "meson_options.txt", "core/*"):
            copy(self, pattern, self._root, self.export_sources_folder)

    def layout(self):
        basic_layout(self)

    def requirements(self):
        # byre's headers are templates over Boost.Atomic and Boost.Thread.
        self.requires("boost/[>=1.74]", transitive_headers=True, transitive_libs=True)
        if self._has_tensor:
            self.requires("zlib/[>=1.2.9 <2]")
            self.requires("nlohmann_json/[>=3.11]")

    def build_requirements(self):
        self.tool_requires("meson/[>=1.0.1]")
        self.tool_requires("pkgconf/[>=1.9]")

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = MesonToolchain(self)
        for option in ("checks", "stats", "static_tls", "tensor", "functional"):
            toolchain.project_options[option] = "enabled" if self.options.get_safe(option) else "disabled"
        for part in LIBRARIES_ALONE:
            toolchain.project_options[part] = "disabled"
        # Boost is found by its folder: its own build has no pkg-config file.
        boost = self.dependencies["boost"].package_folder
        toolchain.properties["boost_root"] = boost
        toolchain.generate()
        PkgConfigDeps(self).generate()

    def build(self):
        meson = Meson(self)
        meson.configure()
        meson.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        Meson(self).install()
        for folder in ("pkgconfig", "cmake"):  # Conan writes its own, of the components below
            rmdir(self, os.path.join(self.package_folder, "lib", folder))

    def package_info(self):
        libraries = {
            "byre": ["boost::atomic", "boost::thread"],
            "tensor": ["byre", "zlib::zlib", "nlohmann_json::nlohmann_json"],
            "functional": ["tensor"],
        }
        for library, needed in libraries.items():
            if library == "byre" or self.options.get_safe(library) or (library == "tensor" and self._has_tensor):
                component = self.cpp_info.components[library]
                name = library if library == "byre" else f"byre-{library}"
                component.libs = [name]
                component.requires = needed
                component.set_property("cmake_target_name", f"byre::{library}")
                component.set_property("pkg_config_name", name)
                if not self.options.shared:
                    component.cxxflags = ["-fvisibility-inlines-hidden"]
                if self.settings.os in ("Linux", "FreeBSD"):
                    component.system_libs = ["pthread"]
