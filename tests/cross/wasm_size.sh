#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# wasm_size.sh SYSROOT [ARGUMENT...] : prints the code size of a program that clones and writes one buffer, and of a
# program that prints as much but contains no byre, compiled by emscripten with -Os and these arguments.
set -euo pipefail
sysroot=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

options=(-Os -fexceptions "$@")
cross_files=(--cross-file "$here/wasm.ini" --cross-file "$sysroot/libraries.ini")
[[ " $* " != *" -pthread "* ]] || cross_files+=(--cross-file "$here/wasm-threads.ini")
meson setup "$folder/build" "$here/../.." "${cross_files[@]}" -Doptimization=s -Ddebug=false -Dstats=disabled \
  -Dtensor=disabled -Dfunctional=disabled -Dtests=disabled >"$folder/log" || { cat "$folder/log" && exit 1; }
ninja -C "$folder/build" core/libbyre.a >>"$folder/log" || { cat "$folder/log" && exit 1; }
cat >"$folder/clones.cpp" <<'END'
#include <byre/storage/buffer.hpp>
#include <cstdio>

int main() {
  byre::Buffer buffer = byre::Buffer::allocate(1 << 20);
  buffer.mutable_data()[0] = std::byte{1};
  const byre::Buffer clone = buffer;
  buffer.mutable_data()[0] = std::byte{2};
  std::printf("%d %d\n", int(clone.data()[0]), int(buffer.data()[0]));
}
END
cat >"$folder/prints.cpp" <<'END'
#include <cstdio>
#include <stdexcept>

int main(int count, char**) try {
  if (count > 2) {
    throw std::runtime_error("too many");
  }
  std::printf("%d %d\n", count, 2);
} catch (const std::runtime_error& error) {
  std::puts(error.what());
}
END
em++ -std=c++20 "${options[@]}" -isystem "$sysroot/libcxx13" -I "$here/../../core" -I "$folder/build/core" \
  "$folder/clones.cpp" "$folder/build/core/libbyre.a" -o "$folder/clones.js" --minify=0
em++ -std=c++20 "${options[@]}" "$folder/prints.cpp" -o "$folder/prints.js" --minify=0
for program in clones prints; do
  echo "wasm_size.sh: $program${*:+ with $*}: $(stat -c %s "$folder/$program.wasm") bytes of WebAssembly"
done
