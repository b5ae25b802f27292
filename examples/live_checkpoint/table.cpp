// SPDX-License-Identifier: BSL-1.0
#include "table.hpp"

#include "paged_table.hpp"
#include "storage_table.hpp"
#include "tiled_table.hpp"

namespace examples::live_checkpoint {

std::unique_ptr<Table> make_table(Mode mode, const Plan& plan, std::uint32_t tile_rows,
                                  byre::Allocator& pool) {
  switch (mode) {
    case Mode::pages:
      return std::make_unique<PagedTable>(plan);
    case Mode::tiles:
      return std::make_unique<TiledTable>(plan, tile_rows, pool);
    case Mode::lazy:
      return std::make_unique<StorageTable>(plan, tile_rows, pool, Cloning::lazy);
    case Mode::eager_fresh:
    case Mode::eager_recycled:
      break;
  }
  return std::make_unique<StorageTable>(plan, tile_rows, pool, Cloning::eager);
}

}  // namespace examples::live_checkpoint
