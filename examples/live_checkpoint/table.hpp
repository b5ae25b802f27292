// SPDX-License-Identifier: BSL-1.0
/// The embedding table, as training sees it: rows to write, and snapshots of all of them. The modes differ in
/// what holds the rows.
#pragma once

#include "mode.hpp"
#include "stalls.hpp"
#include "training.hpp"

#include <byre/memory/allocator.hpp>
#include <byre/storage/storage.hpp>
#include <byre/storage/tiled_buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace examples::live_checkpoint {

/// The table as it was when `token` tokens were trained.
struct Snapshot {
  std::uint64_t token = 0;
  /// Storages one after the other, of which the last may have rows to spare; or tiles.
  std::variant<std::vector<byre::Storage>, byre::TiledBuffer> rows;
};

/// Used by the training thread only, as opposed to the snapshots.
class Table {
 public:
  virtual ~Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// The row, to read and write until the next snapshot. Throws byre::OutOfMemory.
  virtual float* row(std::uint32_t number) = 0;

  /// Throws byre::OutOfMemory, std::bad_alloc.
  virtual Snapshot snapshot(std::uint64_t token) = 0;

  /// What row() stood still for. Who calls snapshot() times that.
  StallLog& stalls() noexcept { return stalls_; }

 protected:
  Table() = default;

  /// To be called by constructors. Throws as row().
  void initialize_rows(const Plan& plan) {
    for (std::uint32_t number = 0; number < plan.rows; ++number) {
      initialize_row(row(number), number, plan);
    }
  }

  StallLog stalls_;
};

/// The table of `mode`, with its initial values. Memory comes from `pool`, but for that in pages. Throws
/// byre::OutOfMemory.
std::unique_ptr<Table> make_table(Mode mode, const Plan& plan, std::uint32_t tile_rows,
                                  byre::Allocator& pool);

}  // namespace examples::live_checkpoint
