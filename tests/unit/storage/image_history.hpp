// SPDX-License-Identifier: BSL-1.0
/// The history of a small image, within a budget.
#pragma once

#include <byre/memory/budget.hpp>
#include <byre/storage/history.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "support/failing_allocator.hpp"

namespace byre::test {

inline constexpr std::size_t one_tile = 64;
inline constexpr std::size_t tiles = 4;

inline void fill(TiledBuffer& image, std::size_t tile, char letter) {
  const auto bytes = image.mutable_tile(tile);
  std::memset(bytes.data(), letter, bytes.size());
}

/// The letter of each tile.
inline std::string letters_of(const TiledBuffer& image) {
  std::string letters;
  for (std::size_t index = 0; index < image.tile_count(); ++index) {
    const auto tile = image.tile(index);
    const auto letter = static_cast<char>(tile[0]);
    letters += letter;
    for (const std::byte byte : tile) {
      EXPECT_EQ(byte, std::byte(letter)) << "in tile " << index;
    }
  }
  return letters;
}

inline TiledBuffer blank_image(Allocator& allocator) {
  TiledBuffer image(tiles * one_tile, allocator, one_tile);
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    fill(image, tile, '.');
  }
  return image;
}

/// The history of an image of four tiles, with room for as many tiles as lend() says.
class HistoryTest : public testing::Test {
 protected:
  void lend(std::size_t spare_tiles) { budget.set_limit((tiles + spare_tiles) * one_tile); }
  std::size_t used_tiles() const { return budget.used() / one_tile; }

  void paint(std::size_t tile, char letter) { fill(history.mutable_current(), tile, letter); }
  void edit(std::size_t tile, char letter) {
    paint(tile, letter);
    history.commit();
  }
  std::string shown() const { return letters_of(history.current()); }
  std::string counts() const {
    return std::to_string(history.undo_count()) + " undo, " + std::to_string(history.redo_count()) +
           " redo";
  }

  FailingAllocator memory;
  Budget budget{1000 * one_tile};
  BudgetedAllocator allocator{memory, budget};
  History<TiledBuffer> history{budget, blank_image(allocator)};
};

}  // namespace byre::test
