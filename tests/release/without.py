# SPDX-License-Identifier: BSL-1.0
"""without.py SOURCE BUILD FEATURE: builds byre without a feature of Linux (Meson option `without`), and runs the unit
tests of the rooms that use such features. `./dev cross posix` runs all unit tests without any feature of Linux.
"""
import pathlib
import subprocess
import sys


ROOMS = ["memory", "pages", "files", "storage", "system"]


def main(source, build, feature):
    build = pathlib.Path(build) / "without" / feature
    options = ["-Dunity=on", "-Dunity_size=14", "-Ddebug=false", "-Dverification=disabled", "-Dbenchmarks=disabled",
               "-Dexamples=disabled", "-Dstress=disabled", "-Dvulkan=disabled", f"-Dwithout={feature}"]
    for command in (["meson", "setup", build, source, *options] if not build.exists() else ["true"],
                    ["ninja", "-C", build, *(f"tests/unit/unit_{room}" for room in ROOMS)],
                    ["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", *ROOMS]):
        print("+", *command, flush=True)
        subprocess.run(command, check=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(str(error))
