// SPDX-License-Identifier: BSL-1.0
/// The embedding table, as training sees it: rows to write, and snapshots of all of them. Each way to hold the rows is
/// all that a model would do with byre.
#pragma once

#include "stalls.hpp"
#include "training.hpp"

#include <byre/memory/allocator.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/storage.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <variant>
#include <vector>

namespace examples::live_checkpoint {

/// The table as it was when `token` tokens were trained: storages one after the other, whose last may have rows to
/// spare; or tiles.
struct Snapshot {
  std::uint64_t token;
  std::variant<std::vector<byre::Storage>, byre::TiledBuffer> rows;
};

/// Used by the training thread only, as opposed to the snapshots. All throw byre::OutOfMemory.
class Table {
 public:
  virtual ~Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// The row, to read and write until the next snapshot.
  virtual float* row(std::uint32_t number) = 0;
  virtual Snapshot snapshot(std::uint64_t token) = 0;

  StallLog stalls;

 protected:
  Table() = default;
  void initialize_rows(const Plan& plan) {
    for (std::uint32_t number = 0; number < plan.rows; ++number) {
      initialize_row(row(number), number, plan.dimensions);
    }
  }
};

/// In storages of some rows each. A snapshot is a clone of every one. A lazy clone takes a moment, and a storage is copied
/// when training first writes to it while the snapshot is still there.
class StorageTable final : public Table {
 public:
  enum class Cloning { lazy, eager };

  StorageTable(const Plan& plan, std::uint32_t tile_rows, byre::Allocator& allocator,
               Cloning cloning)
      : tile_rows_(tile_rows), dimensions_(plan.dimensions), cloning_(cloning) {
    const std::size_t nbytes = tile_rows * plan.row_nbytes();
    for (std::uint32_t row = 0; row < plan.rows; row += tile_rows) {
      tiles_.push_back(byre::Storage::allocate(nbytes, allocator));
      std::memset(tiles_.back().mutable_data(), 0, nbytes);
    }
    initialize_rows(plan);
  }

  float* row(std::uint32_t number) override {
    byre::Storage& tile = tiles_[number / tile_rows_];
    // Only the stopwatch needs this look: mutable_data() alone does the right thing.
    if (!tile.is_unique()) [[unlikely]] {
      stalls.time([&] { return tile.materialize(); });
    }
    return reinterpret_cast<float*>(tile.mutable_data()) +
           std::size_t{number % tile_rows_} * dimensions_;
  }

  Snapshot snapshot(std::uint64_t token) override {
    std::vector<byre::Storage> clones;
    for (const byre::Storage& tile : tiles_) {
      clones.push_back(tile.lazy_clone());
      if (cloning_ == Cloning::eager) {
        clones.back().materialize();  // the copy that a write would make later, made now
      }
    }
    return {token, std::move(clones)};
  }

 private:
  std::uint32_t tile_rows_;
  std::uint32_t dimensions_;
  Cloning cloning_;
  std::vector<byre::Storage> tiles_;
};

/// In one storage of paged memory. A snapshot is one lazy clone, and the system copies the pages that training writes.
class PagedTable final : public Table {
 public:
  explicit PagedTable(const Plan& plan)
      : row_nbytes_(plan.row_nbytes()),
        page_nbytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        rows_(byre::Storage::allocate(plan.table_nbytes(), byre::paged_allocator())),
        data_(rows_.mutable_data()),
        is_own_((plan.table_nbytes() + page_nbytes_ - 1) / page_nbytes_, 1) {
    initialize_rows(plan);
  }

  float* row(std::uint32_t number) override {
    const std::size_t begin = number * row_nbytes_;
    // The stopwatch needs the look at each page, and so does an exception for want of memory.
    for (std::size_t page = begin / page_nbytes_; page * page_nbytes_ < begin + row_nbytes_;
         ++page) {
      if (is_own_[page] == 0) [[unlikely]] {
        make_own(page);
      }
    }
    return reinterpret_cast<float*>(data_ + begin);
  }

  Snapshot snapshot(std::uint64_t token) override {
    std::ranges::fill(is_own_, 0);
    return {token, std::vector<byre::Storage>{rows_.lazy_clone()}};
  }

 private:
  void make_own(std::size_t page) {
    const std::size_t begin = page * page_nbytes_;
    const std::size_t nbytes = std::min(page_nbytes_, rows_.nbytes() - begin);
    data_ = stalls.time([&] { return rows_.mutable_range(begin, nbytes).data(); }) - begin;
    is_own_[page] = 1;
  }

  std::size_t row_nbytes_;
  std::size_t page_nbytes_;
  byre::Storage rows_;
  std::byte* data_;                    ///< of rows_, once a page is its own
  std::vector<unsigned char> is_own_;  ///< by page: written since the last snapshot
};

/// In one tiled buffer. A snapshot is a copy of it, of one atomic add, and a tile is copied when training first writes to
/// it.
class TiledTable final : public Table {
 public:
  TiledTable(const Plan& plan, std::uint32_t tile_rows, byre::Allocator& allocator)
      : tile_rows_(tile_rows),
        dimensions_(plan.dimensions),
        rows_(plan.table_nbytes(), allocator, tile_rows * plan.row_nbytes()),
        own_(rows_.tile_count()) {
    for (std::size_t tile = 0; tile < own_.size(); ++tile) {
      own_[tile] = own_tile(tile);
    }
    initialize_rows(plan);
  }

  float* row(std::uint32_t number) override {
    const std::uint32_t tile = number / tile_rows_;
    if (own_[tile] == nullptr) [[unlikely]] {
      stalls.time([&] { return own_[tile] = own_tile(tile); });
    }
    return own_[tile] + std::size_t{number % tile_rows_} * dimensions_;
  }

  Snapshot snapshot(std::uint64_t token) override {
    std::ranges::fill(own_, nullptr);
    return {token, rows_.lazy_clone()};
  }

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
