// SPDX-License-Identifier: BSL-1.0
#include "tiled_table.hpp"

#include <cstring>

namespace examples::live_checkpoint {

TiledTable::TiledTable(const Plan& plan, std::uint32_t tile_rows, byre::Allocator& allocator)
    : tile_rows_(tile_rows), dimensions_(plan.dimensions) {
  const std::size_t tile_nbytes = tile_rows * plan.row_nbytes();
  const std::size_t tile_count = (std::size_t{plan.rows} + tile_rows - 1) / tile_rows;
  tiles_.reserve(tile_count);
  while (tiles_.size() < tile_count) {
    tiles_.push_back(byre::Storage::allocate(tile_nbytes, allocator));
    std::memset(tiles_.back().mutable_data(), 0, tile_nbytes);
  }
  for (std::uint32_t number = 0; number < plan.rows; ++number) {
    initialize_row(row(number), number, plan);
  }
}

Snapshot TiledTable::snapshot(std::uint64_t token, Cloning cloning) const {
  Snapshot snapshot;
  snapshot.token = token;
  snapshot.tiles.reserve(tiles_.size());
  for (const byre::Storage& tile : tiles_) {
    snapshot.tiles.push_back(tile.lazy_clone());
    if (cloning == Cloning::eager) {
      // The same copy that a write would make later, made now: with the same allocator, and with
      // the same advice to it that the memory is about to be filled.
      snapshot.tiles.back().materialize();
    }
  }
  return snapshot;
}

}  // namespace examples::live_checkpoint
