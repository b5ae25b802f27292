// SPDX-License-Identifier: BSL-1.0
/// The table as one tiled buffer. A snapshot is a copy of it, of one atomic add, and a tile is copied when
/// training first writes to it.
#pragma once

#include "table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace examples::live_checkpoint {

class TiledTable final : public Table {
 public:
  TiledTable(const Plan& plan, std::uint32_t tile_rows, byre::Allocator& allocator);

  float* row(std::uint32_t number) override {
    const std::uint32_t tile = number / tile_rows_;
    if (own_[tile] == nullptr) [[unlikely]] {
      stalls_.time([&] { return own_[tile] = own_tile(tile); });
    }
    return own_[tile] + std::size_t{number % tile_rows_} * dimensions_;
  }

  Snapshot snapshot(std::uint64_t token) override;

 private:
  float* own_tile(std::size_t tile) {
    return reinterpret_cast<float*>(rows_.mutable_tile(tile).data());
  }

  std::uint32_t tile_rows_;
  std::uint32_t dimensions_;
  byre::TiledBuffer rows_;
  std::vector<float*> own_;  ///< by tile: its rows, if it was written since the last snapshot
};

}  // namespace examples::live_checkpoint
