# SPDX-License-Identifier: BSL-1.0
"""Embeds byre in a parent project, builds and runs it: embed.py SOURCE_ROOT [SETUP_OPTION...]"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile


def run(*command):
    print("+", *command, flush=True)
    subprocess.run(command, check=True)


def introspect(build, what):
    command = ["meson", "introspect", str(build), f"--{what}"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main(source, *options):
    with tempfile.TemporaryDirectory(prefix="byre-embedding-") as folder:
        parent = pathlib.Path(folder) / "parent"
        build = pathlib.Path(folder) / "build"
        shutil.copytree(pathlib.Path(__file__).parent / "project", parent)
        (parent / "subprojects").mkdir()
        (parent / "subprojects" / "byre").symlink_to(source, target_is_directory=True)

        run("meson", "setup", "-Dwerror=true", "-Ddebug=false", *options, build, parent)
        run("meson", "compile", "-C", build)
        run("meson", "test", "-C", build, "--print-errorlogs")

        targets = [
            target["name"]
            for target in introspect(build, "targets")
            if "/subprojects/byre/" in target["defined_in"]
        ]
        tests = [test["name"] for test in introspect(build, "tests")]
        if targets != ["byre"] or tests != ["the_parent_runs"]:
            sys.exit(f"embedded, byre adds more than its library: targets {targets}, tests {tests}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(str(error))
