# SPDX-License-Identifier: BSL-1.0
"""archive.py SOURCE BUILD: packs an archive by `meson dist`, builds it, and runs its tests.

The archive contains the committed files, without a repository.
"""
import pathlib
import subprocess
import sys
import tarfile
import tempfile

SKIPPED = 77


def run(*command):
    print("+", *command, flush=True)
    subprocess.run(command, check=True)


def main(source, build):
    if not (pathlib.Path(source) / ".git").exists():
        print("not a git checkout: meson dist cannot pack an archive")
        return SKIPPED
    run("meson", "dist", "-C", build, "--no-tests", "--allow-dirty", "--formats", "gztar")
    version = (pathlib.Path(source) / "VERSION").read_text().strip()
    with tempfile.TemporaryDirectory(prefix="byre-archive-") as folder:
        with tarfile.open(f"{build}/meson-dist/byre-{version}.tar.gz") as archive:
            archive.extractall(folder)
        unpacked = pathlib.Path(folder) / f"byre-{version}"
        run("meson", "setup", "-Dunity=on", "-Dunity_size=12", "-Ddebug=false", unpacked / "build", unpacked)
        run("meson", "compile", "-C", unpacked / "build")
        run("meson", "test", "-C", unpacked / "build", "--print-errorlogs")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(str(error))
