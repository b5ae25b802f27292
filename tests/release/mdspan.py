# SPDX-License-Identifier: BSL-1.0
"""Builds byre-tensor with a standard library that has std::mdspan, and runs a program of C++23 that uses it:
mdspan.py ROOT"""
import os
import pathlib
import subprocess
import sys
import tempfile

STANDARD_LIBRARY = "-stdlib=libc++"
PARTS = ["functional", "tests", "verification", "stress", "benchmarks", "examples"]


def main(root):
    root = pathlib.Path(root)
    compiler = os.environ.get("CXX", "clang++-19")
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder) / "build"
        setup = ["meson", "setup", build, root, f"-Dcpp_args={STANDARD_LIBRARY}",
                 f"-Dcpp_link_args={STANDARD_LIBRARY}", "-Dtensor=enabled", "-Ddefault_library=static",
                 "-Dunity=on", "-Dunity_size=13", "-Doptimization=0", "-Ddebug=false"]
        setup += [f"-D{part}=disabled" for part in PARTS]
        subprocess.run(setup, env={**os.environ, "CXX": compiler}, check=True)
        subprocess.run(["ninja", "-C", build], check=True)
        program = build / "mdspan"
        subprocess.run([compiler, "-std=c++23", STANDARD_LIBRARY, "-Wall", "-Wextra", "-Wconversion",
                        "-Wsign-conversion", "-Wshadow", "-Werror", f"-I{root}/core", f"-I{build}/core",
                        root / "tests/release/mdspan.cpp", build / "core/libbyre-tensor.a",
                        build / "core/libbyre.a", "-lboost_thread", "-lboost_atomic", "-lz", "-lpthread",
                        "-o", program], check=True)
        return subprocess.run([program], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
