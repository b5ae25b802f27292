# SPDX-License-Identifier: BSL-1.0
"""Embeds byre in a parent project, builds and runs it: embed.py SOURCE_ROOT LIBRARY [SETUP_OPTION...]

The parent gets LIBRARY and those it stands on. Nothing of the others is configured, compiled or linked.
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blocks"))

import blocks  # noqa: E402


def run(*command):
    print("+", *command, flush=True)
    subprocess.run(command, check=True)


def introspect(build, what):
    command = ["meson", "introspect", str(build), f"--{what}"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def in_the_readme(source, language):
    source = pathlib.Path(source)
    return "".join(block.text for block in blocks.blocks_of(source / "README.md", source) if block.language == language)


def line_for(library, source):
    """The README's line by which a parent asks for a library. There is one for each."""
    lines = {re.search(r"dependency\('([\w-]+)'", line)[1]: line for line in in_the_readme(source, "meson").splitlines()}
    if set(lines) != set(LIBRARIES):
        sys.exit(f"the README asks for {sorted(lines)}, expected {sorted(LIBRARIES)}")
    return lines[library] + "\n"


SKIPPED = 77


def is_there(options):
    """The compiler, and the standard library that the options are for."""
    arguments = [word for option in options if option.startswith("-Dcpp_args=")
                 for word in option.split("=", 1)[1].split()]
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    if shutil.which(compiler[0]) is None:
        return False
    command = [*compiler, *arguments, "-fsyntax-only", "-x", "c++", "-"]
    return subprocess.run(command, input="#include <vector>", text=True).returncode == 0


LIBRARIES = {"byre": ["byre"], "byre-tensor": ["byre", "byre-tensor"]}
LIBRARIES["byre-functional"] = [*LIBRARIES["byre-tensor"], "byre-functional"]

# What only the libraries above have: folders of their sources, and namespaces or types in their symbols.
FOLDERS = {"byre-tensor": ("shadow", "tensor", "interop"), "byre-functional": ("functional",)}
SYMBOLS = {"byre-tensor": "::Tensor|ReshapeMode", "byre-functional": "::functional::"}


def complaints(library, build):
    """What is there of the libraries that the parent did not ask for, and of byre's own tests."""
    targets = [
        target["name"]
        for target in introspect(build, "targets")
        if "/subprojects/byre/" in target["defined_in"]
    ]
    if targets != LIBRARIES[library]:
        yield f"byre's targets are {targets}, expected {LIBRARIES[library]}"
    tests = [test["name"] for test in introspect(build, "tests")]
    if tests not in (["the_parent_runs"], ["the_parent_runs", "copies_share_nothing"]):
        yield f"the tests are {tests}, expected the parent's own"
    compiled = [unit["file"] for unit in json.loads((build / "compile_commands.json").read_text())]
    own = [unit["command"] for unit in json.loads((build / "compile_commands.json").read_text())
           if not re.search("(^|/)subprojects/", unit["output"]) and "subprojects/byre/core" in unit["command"]]
    if not own or not all(re.search(r"-isystem\s*\S*subprojects/byre/core", command) for command in own):
        yield "the parent has byre's headers not as a system's: its own warnings would be of them too"
    for unity in [file for file in compiled if "-unity" in file]:
        compiled += (build / unity).read_text().splitlines()
    linked = sorted(build.glob("subprojects/byre/core/libbyre*.[as]*")) + [build / "parent"]
    symbols = "".join(
        subprocess.run(["nm", "--demangle", file], check=True, text=True, capture_output=True).stdout
        for file in linked if file.is_file())
    if not any("/byre/cow/" in file or "/byre/storage/" in file for file in compiled):
        yield "no source of byre is among what is compiled: the checks below would see nothing"
    if "byre::v0::" not in symbols:
        yield "no symbol of byre is among what is linked: the checks below would see nothing"
    for other in set(FOLDERS) - set(LIBRARIES[library]):
        for folder in FOLDERS[other]:
            if found := [file for file in compiled if f"/byre/{folder}/" in file]:
                yield f"{other} is compiled: {found[0]}"
        if found := re.search(rf"byre::v0\S*(?:{SYMBOLS[other]})\S*", symbols):
            yield f"{other} is linked: {found[0]}"


def main(source, library, *options):
    if not is_there(options):
        print("not on this machine:", os.environ.get("CXX", "c++"), *options)
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="byre-embedding-") as folder:
        parent = pathlib.Path(folder) / "parent"
        build = pathlib.Path(folder) / "build"
        shutil.copytree(pathlib.Path(__file__).parent / "project", parent)
        (parent / "subprojects").mkdir()
        (parent / "subprojects" / "byre").symlink_to(source, target_is_directory=True)
        (parent / "subprojects" / "byre.wrap").write_text(in_the_readme(source, "ini"))
        (parent / "readme").mkdir()
        (parent / "readme" / "meson.build").write_text(line_for(library, source))

        run("meson", "setup", "-Dwerror=true", "-Ddebug=false", f"-Dlibrary={library}", *options,
            build, parent)
        run("meson", "compile", "-C", build)
        run("meson", "test", "-C", build, "--print-errorlogs")
        if found := list(complaints(library, build)):
            sys.exit("\n".join(found))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(str(error))
