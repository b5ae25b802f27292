// SPDX-License-Identifier: BSL-1.0
#include "storage_table.hpp"

#include <cstring>
#include <utility>

namespace examples::live_checkpoint {

StorageTable::StorageTable(const Plan& plan, std::uint32_t tile_rows, byre::Allocator& allocator,
                           Cloning cloning)
    : tile_rows_(tile_rows), dimensions_(plan.dimensions), cloning_(cloning) {
  const std::size_t tile_nbytes = tile_rows * plan.row_nbytes();
  const std::size_t tile_count = (std::size_t{plan.rows} + tile_rows - 1) / tile_rows;
  tiles_.reserve(tile_count);
  while (tiles_.size() < tile_count) {
    tiles_.push_back(byre::Storage::allocate(tile_nbytes, allocator));
    std::memset(tiles_.back().mutable_data(), 0, tile_nbytes);
  }
  initialize_rows(plan);
}

Snapshot StorageTable::snapshot(std::uint64_t token) {
  std::vector<byre::Storage> clones;
  clones.reserve(tiles_.size());
  for (const byre::Storage& tile : tiles_) {
    clones.push_back(tile.lazy_clone());
    if (cloning_ == Cloning::eager) {
      // The same copy that a write would make later, made now: with the same allocator, and with
      // the same advice to it that the memory is about to be filled.
      clones.back().materialize();
    }
  }
  return {token, std::move(clones)};
}

}  // namespace examples::live_checkpoint
