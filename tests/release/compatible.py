# SPDX-License-Identifier: BSL-1.0
"""The libraries against those of the last tag, by abidiff: compatible.py SOURCE

Before 1.0 a minor version may change the interface, later a major one: then what changed is only printed.
"""
import io
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

SKIPPED = 77
LIBRARIES = ("byre", "byre-tensor", "byre-functional")
INCOMPATIBLE = 8  # of abidiff's exit status; 4 is any change, 1 and 2 are errors


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout


def last_tag(source):
    done = subprocess.run(["git", "-C", source, "describe", "--tags", "--abbrev=0", "--match", "v*"],
                          capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def build(source, folder):
    """With debug information, which says what types there are."""
    parts = [f"-D{part}=disabled" for part in ("tests", "verification", "stress", "benchmarks", "examples")]
    output_of("meson", "setup", *parts, "-Dunity=on", "-Dunity_size=1000", "-Doptimization=0", "-Ddebug=true",
              "-Dfunctional=enabled", folder, source)
    output_of("meson", "compile", "-C", folder)
    return folder / "core"


def may_differ(before, now):
    """Of two versions, as numbers."""
    return before[0] != now[0] or (now[0] == 0 and before[1] != now[1])


def version_of(source):
    return [int(part) for part in (pathlib.Path(source) / "VERSION").read_text().strip().split(".")]


def main(source):
    missing = [tool for tool in ("git", "abidiff") if shutil.which(tool) is None]
    tag = None if missing else last_tag(source)
    if tag is None:
        print("not on this machine:" if missing else "there is no tag to compare with", *missing)
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="byre-compatible-") as name:
        folder = pathlib.Path(name)
        with tarfile.open(fileobj=io.BytesIO(output_of("git", "-C", source, "archive", tag))) as archive:
            archive.extractall(folder / "tagged")
        before, now = build(folder / "tagged", folder / "before"), build(source, folder / "now")
        allowed = may_differ(version_of(folder / "tagged"), version_of(source))
        failed = 0
        for library in LIBRARIES:
            files = [core / f"lib{library}.so" for core in (before, now)]
            done = subprocess.run(["abidiff", *files], text=True, stdout=subprocess.PIPE)
            print(f"{library} against {tag}: abidiff ends with {done.returncode}\n{done.stdout}", flush=True)
            failed |= done.returncode & 3 or (done.returncode & INCOMPATIBLE and not allowed)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error}\n{(error.stderr or b'').decode()}")
