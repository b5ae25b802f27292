// SPDX-License-Identifier: BSL-1.0
#include "tiled_table.hpp"

#include <algorithm>

namespace examples::live_checkpoint {

TiledTable::TiledTable(const Plan& plan, std::uint32_t tile_rows, byre::Allocator& allocator)
    : tile_rows_(tile_rows),
      dimensions_(plan.dimensions),
      rows_(plan.table_nbytes(), allocator, tile_rows * plan.row_nbytes()),
      own_(rows_.tile_count()) {
  for (std::size_t tile = 0; tile < own_.size(); ++tile) {
    own_[tile] = own_tile(tile);
  }
  initialize_rows(plan);
}

Snapshot TiledTable::snapshot(std::uint64_t token) {
  std::fill(own_.begin(), own_.end(), nullptr);
  return {token, rows_.lazy_clone()};
}

}  // namespace examples::live_checkpoint
