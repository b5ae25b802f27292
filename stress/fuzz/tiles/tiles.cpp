// SPDX-License-Identifier: BSL-1.0
/// Programs over tiled buffers. The first byte chooses the size of tiles and the fan-out of the table.
#include <byre/memory/pages.hpp>

#include <iterator>

#include "program.hpp"

namespace byre::fuzz {

const char* const target_name = "tiles";

}  // namespace byre::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t nbytes) {
  using namespace byre::fuzz;
  constexpr std::size_t sizes[] = {1, 3, 16, 100, byre::page_nbytes};
  Input input(bytes, nbytes);
  const std::size_t choice = input.byte();
  const std::size_t tile_nbytes = sizes[choice / 2 % std::size(sizes)];
  if (choice % 2 == 0) {
    TileProgram<2>(input, tile_nbytes).run();
  } else {
    TileProgram<32>(input, tile_nbytes).run();
  }
  return 0;
}
