# SPDX-License-Identifier: BSL-1.0
"""The recipes of packaging/ beside Meson's files: recipes.py SOURCE. Neither Conan nor vcpkg is needed."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
CONAN = SOURCE / "packaging/conan/conanfile.py"
VCPKG = SOURCE / "packaging/vcpkg"
PARTS = {"tests", "verification", "stress", "benchmarks", "examples", "python", "vulkan"}


def options_of_meson():
    """Each of the libraries, and what it is where nothing is said."""
    found = re.findall(r"^option\('(\w+)', type: 'feature', value: '(\w+)'",
                       (SOURCE / "meson_options.txt").read_text(), re.M)
    return {name: value != "disabled" for name, value in found if name not in PARTS}


class Toolchain:
    """Conan's, of which the last one is kept."""

    def __init__(self, _recipe):
        self.project_options, self.properties = {}, {}
        Toolchain.last = self

    def generate(self):
        pass


class Dependencies:
    def __init__(self, _recipe):
        pass

    def generate(self):
        pass


def copied(_recipe, pattern, source, target):
    """As Conan's: the pattern is one of whole paths below the source."""
    source, target = pathlib.Path(source), pathlib.Path(target)
    within = source / pattern.split("*")[0]
    for path in within.rglob("*") if within.is_dir() else [within]:
        if path.is_file():
            to = target / path.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)


def recipe_of_conan():
    """The class, with modules in place of Conan's that do what it asks of them, or nothing."""
    names = {
        "conan": {"ConanFile": object},
        "conan.tools": {},
        "conan.tools.build": {"check_min_cppstd": None},
        "conan.tools.files": {"copy": copied, "rmdir": None,
                              "load": lambda _recipe, path: pathlib.Path(path).read_text()},
        "conan.tools.gnu": {"PkgConfigDeps": Dependencies},
        "conan.tools.layout": {"basic_layout": None},
        "conan.tools.meson": {"Meson": None, "MesonToolchain": Toolchain},
    }
    for name, members in names.items():
        module = types.ModuleType(name)
        vars(module).update(members)
        sys.modules[name] = module
    read = {}
    exec(compile(CONAN.read_text(), CONAN, "exec"), read)
    recipe = read["Byre"]()
    recipe.recipe_folder = str(CONAN.parent)
    return recipe


class Options(dict):
    get_safe = dict.get
    __getattr__ = dict.__getitem__


class Conan(unittest.TestCase):
    def setUp(self):
        self.recipe = recipe_of_conan()

    def test_has_the_version(self):
        self.recipe.set_version()
        self.assertEqual(self.recipe.version, (SOURCE / "VERSION").read_text().strip())

    def test_has_the_options_and_their_defaults(self):
        own = set(self.recipe.options) - {"shared", "fPIC"}
        defaults = {name: self.recipe.default_options[name] for name in own}
        self.assertEqual(defaults, options_of_meson())

    def test_tells_meson_each_option(self):
        self.recipe.options = Options({name: name == "stats" for name in options_of_meson()})
        self.recipe.dependencies = {"boost": types.SimpleNamespace(package_folder="/boost")}
        self.recipe.generate()
        wanted = {name: "enabled" if name == "stats" else "disabled" for name in options_of_meson()}
        wanted |= {part: "disabled" for part in PARTS}
        self.assertEqual(Toolchain.last.project_options, wanted)

    def required_with(self, **options):
        self.recipe.options = Options({"tensor": False, "functional": False, **options})
        required = []
        self.recipe.requires = lambda reference, **_: required.append(reference.split("/")[0])
        self.recipe.requirements()
        return required

    def test_requires_what_tensors_need_for_tensors_alone(self):
        self.assertEqual(self.required_with(), ["boost"])
        self.assertEqual(self.required_with(tensor=True), ["boost", "zlib", "nlohmann_json"])
        self.assertEqual(self.required_with(functional=True), ["boost", "zlib", "nlohmann_json"])

    def test_exports_all_that_the_libraries_are_built_from(self):
        with tempfile.TemporaryDirectory() as folder:
            exported, build = pathlib.Path(folder) / "exported", pathlib.Path(folder) / "build"
            self.recipe.export_sources_folder = str(exported)
            self.recipe.export_sources()
            command = ["meson", "setup", *(f"-D{part}=disabled" for part in PARTS), build, exported]
            done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)


class Vcpkg(unittest.TestCase):
    def setUp(self):
        self.manifest = json.loads((VCPKG / "vcpkg.json").read_text())
        self.port = (VCPKG / "portfile.cmake").read_text()

    def test_has_the_version_and_license(self):
        self.assertEqual(self.manifest["version"], (SOURCE / "VERSION").read_text().strip())
        self.assertEqual(self.manifest["license"], "BSL-1.0")

    def configured(self, features):
        """The options that the port gives to Meson, by running it with vcpkg's functions in place that print."""
        called = re.findall(r"^(vcpkg_\w+)\(", self.port, re.M)
        functions = "".join(f"function({name})\nendfunction()\n" for name in called)
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "script.cmake"
            script.write_text(
                f"cmake_policy(VERSION 3.16)\nset(FEATURES {features})\nset(CURRENT_PACKAGES_DIR {folder}/packages)\n"
                + functions + "function(vcpkg_configure_meson)\nmessage(\"${ARGN}\")\nendfunction()\n"
                + f"include({VCPKG}/portfile.cmake)\n")
            done = subprocess.run(["cmake", "-P", script], text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        source = re.search(r"SOURCE_PATH;([^;]+)", done.stderr)[1]
        self.assertEqual(pathlib.Path(source), SOURCE)
        return dict(re.findall(r"-D(\w+)=(\w+)", done.stderr))

    def test_tells_meson_each_option(self):
        if shutil.which("cmake") is None:
            self.skipTest("there is no cmake on this machine")
        features = {"static_tls": "static-tls", "stats": "no-stats"}
        off = {name: "enabled" if name == "stats" else "disabled" for name in options_of_meson()}
        off |= {part: "disabled" for part in PARTS}
        self.assertEqual(self.configured(""), off)
        for option in options_of_meson():
            feature = features.get(option, option)
            self.assertIn(feature, self.manifest["features"])
            changed = self.configured(feature)
            self.assertEqual({name for name in off if off[name] != changed[name]}, {option})

    def test_depends_on_the_json_library_for_tensors_alone(self):
        for name, feature in self.manifest["features"].items():
            self.assertEqual("nlohmann-json" in feature.get("dependencies", []), name in ("tensor", "functional"))
        self.assertNotIn("nlohmann-json", self.manifest["dependencies"])

    def test_depends_on_each_part_of_boost_that_is_included(self):
        included = set()
        for path in (SOURCE / "core/byre").rglob("*.[hc]pp"):
            included |= set(re.findall(r"#include <boost/(\w+)/", path.read_text()))
        named = {name for name in self.manifest["dependencies"] if isinstance(name, str)}
        self.assertEqual(named, {"boost-" + part.replace("_", "-") for part in included})

    def test_depends_on_zlib_for_tensors_alone(self):
        features = {name for name, feature in self.manifest["features"].items()
                    if "zlib" in feature.get("dependencies", [])}
        self.assertEqual(features, {"tensor", "functional"})
        self.assertNotIn("zlib", self.manifest["dependencies"])


if __name__ == "__main__":
    unittest.main()
