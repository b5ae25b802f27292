// SPDX-License-Identifier: BSL-1.0
/// The table in storages of some rows each, its tiles. A snapshot is a clone of every tile; a lazy one is done
/// in a moment, and a tile is copied when training first writes to it while the snapshot is still there.
#pragma once

#include "table.hpp"

#include <cstdint>
#include <vector>

namespace examples::live_checkpoint {

enum class Cloning { lazy, eager };

class StorageTable final : public Table {
 public:
  StorageTable(const Plan& plan, std::uint32_t tile_rows, byre::Allocator& allocator,
               Cloning cloning);

  float* row(std::uint32_t number) override {
    byre::Storage& tile = tiles_[number / tile_rows_];
    // Only the stopwatch needs this look: mutable_data() alone does the right thing.
    if (!tile.is_unique()) [[unlikely]] {
      stalls_.time([&] { return tile.materialize(); });
    }
    return reinterpret_cast<float*>(tile.mutable_data()) +
           std::size_t{number % tile_rows_} * dimensions_;
  }

  Snapshot snapshot(std::uint64_t token) override;

 private:
  std::uint32_t tile_rows_;
  std::uint32_t dimensions_;
  Cloning cloning_;
  std::vector<byre::Storage> tiles_;
};

}  // namespace examples::live_checkpoint
