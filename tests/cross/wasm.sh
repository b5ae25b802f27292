#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# wasm.sh FOLDER [ARGUMENT...] : creates in FOLDER what the tests of byre need for WebAssembly: GoogleTest, compiled by
# emscripten with these arguments, headers, and a cross file that contains the name of the folder.
set -euo pipefail
folder=$(realpath -m "$1")
here=$(dirname "$(realpath "$0")")
shift

mkdir -p "$folder"/{lib,include}
printf "[constants]\nlibraries = '%s'\n" "$folder/lib" >"$folder/libraries.ini"
# Not all of /usr/include, whose other headers are those of this machine.
ln -sfn /usr/include/{gtest,nlohmann} "$folder/include/"
ln -sfn "$here/libcxx13" "$folder/"
cd "$folder"
for part in gtest-all gtest_main; do
  em++ -std=c++17 -O1 -fexceptions "$@" -I/usr/src/googletest/googletest/include -I/usr/src/googletest/googletest \
    -c "/usr/src/googletest/googletest/src/$part.cc"
done
emar rcs lib/libgtest.a gtest-all.o
emar rcs lib/libgtest_main.a gtest_main.o
# Without this file, Meson would link programs of one thread with -pthread, because GoogleTest may use threads.
printf '%s\n' 'Name: gtest_main' 'Description: GoogleTest' 'Version: 1.12' "Libs: -L$folder/lib -lgtest_main -lgtest" \
  >lib/gtest_main.pc
touch complete
