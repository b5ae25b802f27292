// SPDX-License-Identifier: BSL-1.0
/// The embedding table, held in tiles: storages of some rows each. A snapshot is a clone of every
/// tile; a lazy one is done in a moment, and a tile is copied when training first writes to it
/// while the snapshot is still there.
#pragma once

#include "stalls.hpp"
#include "training.hpp"

#include <byre/memory/allocator.hpp>
#include <byre/storage/storage.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace examples::live_checkpoint {

enum class Cloning { lazy, eager };

/// The table as it was when `token` tokens were trained.
struct Snapshot {
  std::uint64_t token = 0;
  std::vector<byre::Storage> tiles;  ///< all of one size; the last one may have rows to spare
};

class TiledTable {
 public:
  /// Allocates and initializes the rows. Throws byre::OutOfMemory.
  TiledTable(const Plan& plan, std::uint32_t tile_rows, byre::Allocator& allocator);

  /// The row, to read and write until the next snapshot. Throws byre::OutOfMemory.
  float* row(std::uint32_t number) {
    byre::Storage& tile = tiles_[number / tile_rows_];
    // Only the stopwatch needs this look: mutable_data() alone does the right thing.
    if (!tile.is_unique()) [[unlikely]] {
      stalls_.time([&] { return tile.materialize(); });
    }
    return reinterpret_cast<float*>(tile.mutable_data()) +
           std::size_t{number % tile_rows_} * dimensions_;
  }

  /// Clones of all tiles. Throws byre::OutOfMemory, std::bad_alloc.
  Snapshot snapshot(std::uint64_t token, Cloning cloning) const;

  std::size_t tiles() const noexcept { return tiles_.size(); }
  std::size_t tile_nbytes() const noexcept { return tiles_.front().nbytes(); }
  StallLog& stalls() noexcept { return stalls_; }

 private:
  std::uint32_t tile_rows_;
  std::uint32_t dimensions_;
  std::vector<byre::Storage> tiles_;
  StallLog stalls_;
};

}  // namespace examples::live_checkpoint
