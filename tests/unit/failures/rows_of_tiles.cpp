// SPDX-License-Identifier: BSL-1.0
// Tiled buffers of which a clone shares everything, and a table of some levels.
#include "../tiles/tiles.hpp"
#include "rows.hpp"

namespace byre::test {
namespace tiles_rows {

/// A row of what `Step`, which captures nothing, does to one of two clones.
template <class Step>
Row of_tiles(const char* name, Step) {
  static_assert(std::is_empty_v<Step>, "a lambda that captures nothing");
  return {name,
          [](Attempt& attempt) {
            auto tiled = tiled_of<NarrowTiles>("aaaabbbbccccddddeeeeffff");
            const NarrowTiles clone = tiled;
            attempt([&] { Step()(tiled); }, [&] { return text_of(tiled) + text_of(clone); });
          },
          true};  // nodes that were copied stay
}

const Row rows[] = {
    of_tiles("TiledBuffer::TiledBuffer",
             [](NarrowTiles& tiled) {
               NarrowTiles made(9, default_allocator(), 4);
               made.write(0, bytes_of("012345678"));
               tiled = std::move(made);
             }),
    of_tiles("TiledBuffer::mutable_tile", [](NarrowTiles& tiled) { put(tiled, 3, 'x'); }),
    of_tiles("TiledBuffer::write", [](NarrowTiles& tiled) { tiled.write(6, bytes_of("0123456")); }),
    of_tiles("TiledBuffer::append",
             [](NarrowTiles& tiled) { tiled.append(bytes_of("0123456789012345678901234567890")); }),
    of_tiles("TiledBuffer::truncate", [](NarrowTiles& tiled) { tiled.truncate(17); }),
    of_tiles("TiledBuffer::truncate", [](NarrowTiles& tiled) { tiled.truncate(3); }),
    of_tiles("TiledBuffer::resize", [](NarrowTiles& tiled) { tiled.resize(13); }),
};

}  // namespace tiles_rows

std::span<const Row> rows_of_tiles() {
  return tiles_rows::rows;
}

}  // namespace byre::test
