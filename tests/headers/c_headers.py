# SPDX-License-Identifier: BSL-1.0
"""c_headers.py CORE: compiles byre.h and byre_c.hpp alone, in each language that they promise, with each compiler of
the machine. The headers of the build folder are not available, so byre.h cannot include them."""
import shutil
import subprocess
import sys

SKIPPED = 77
# Uses the macros, so that a macro that a language does not accept is found.
IN_C = """#include <byre/byre.h>
#include <byre/byre.h>
int main(void) {
  byre_buffer buffer = BYRE_BUFFER_EMPTY;
  byre_tiles tiles = BYRE_TILES_EMPTY;
  void* data;
  BYRE_HERE();
  if (byre_tiles_allocate(1, BYRE_DEFAULT_TILE_NBYTES, NULL, &tiles) != BYRE_OK) {
    return BYRE_C_ABI;
  }
  return (int)byre_buffer_mutable_data(&buffer, BYRE_WAIT_ALLOWED, &data);
}
"""
IN_CPP = """#include <byre/byre_c.hpp>
#include <byre/byre_c.hpp>
int main() {
  byre::c::Tiles tiles;
  const auto clone = byre::c::Storage().lazy_clone();
  (void)tiles.for_each_part(0, 0, [](const void*, std::size_t) {});
  return byre::c::Buffer::allocate(1) ? 0 : 1;
}
"""
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-pedantic", "-Werror"]
BARE = ["-fno-exceptions", "-fno-rtti"]
LANGUAGES = [("c", "c11", IN_C, []), ("c", "c99", IN_C, []), ("c++", "c++98", IN_C, []), ("c++", "c++11", IN_C, []),
             ("c++", "c++17", IN_C, BARE), ("c++", "c++20", IN_C, []), ("c", "c11", IN_C, ["-DBYRE_C_NO_INLINE"]),
             ("c++", "c++17", IN_CPP, BARE), ("c++", "c++17", IN_CPP, []), ("c++", "c++20", IN_CPP, [])]


def main(core):
    compilers = [found for name in ("gcc", "clang", "clang-19") if (found := shutil.which(name))]
    failed = 0
    for compiler in compilers:
        for language, standard, text, options in LANGUAGES:
            command = [compiler, f"-std={standard}", *WARNINGS, *options, "-I", core, "-fsyntax-only", "-x", language, "-"]
            print("+", *command, flush=True)
            failed |= subprocess.run(command, input=text, text=True).returncode
    return (1 if failed else 0) if compilers else SKIPPED


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
