// SPDX-License-Identifier: BSL-1.0
/// The embedding table, as training sees it: rows to write, and snapshots of all of them. Each way to hold the rows is
/// all that a model would do with byre.
#pragma once

#include "training.hpp"

#include <byre/memory/allocator.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/storage.hpp>
#include <byre/storage/tiles/tiled_buffer.hpp>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <utility>
#include <variant>
#include <vector>

namespace examples::live_checkpoint {

/// A stall is one event in which the training thread does something other than training because there are snapshots: a
/// snapshot call, or a write access to a part that a snapshot shared. Waiting for room in the writer's queue is no stall:
/// no way of copying changes how fast a disk is.
///
/// Each is timed with steady_clock, so that preemption by other processes counts too, as it would for a user. The
/// thread's processor time tells a stall's own work from that.
struct StallLog {
  std::size_t events = 0;
  std::int64_t worst_ns = 0;
  std::int64_t total_ns = 0;
  std::int64_t worst_processor_ns = 0;

  /// Times `work` as one event and returns what it returns.
  template <class Work>
  auto time(Work&& work) {
    const std::int64_t processor_begin_ns = processor_time_ns();
    const auto begin = std::chrono::steady_clock::now();
    auto result = std::forward<Work>(work)();
    const std::int64_t ns =
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    ++events;
    worst_ns = std::max(worst_ns, ns);
    total_ns += ns;
    worst_processor_ns = std::max(worst_processor_ns, processor_time_ns() - processor_begin_ns);
    return result;
  }

  static std::int64_t processor_time_ns() noexcept {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<std::int64_t>(used.tv_sec) * 1'000'000'000 + used.tv_nsec;
  }
};

/// The table as it was when `token` tokens were trained: storages one after the other, whose last may have rows to
/// spare; or tiles.
struct Snapshot {
  std::uint64_t token;
  std::variant<std::vector<byre::Storage>, byre::TiledBuffer> rows;
};

/// Rows in parts. After a snapshot each part becomes training's own, which may be a copy, when training first writes to
/// it. Used by the training thread only, as opposed to the snapshots. All throw byre::OutOfMemory.
class Table {
 public:
  virtual ~Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// The row, to read and write until the next snapshot. Only the stopwatch needs the look at `own_`: byre does the right
  /// thing for each write that asks it.
  float* row(std::uint32_t number) {
    const std::size_t begin = number * row_nbytes_;
    const std::size_t first = begin / part_nbytes_;
    for (std::size_t part = first; part * part_nbytes_ < begin + row_nbytes_; ++part) {
      if (own_[part] == nullptr) [[unlikely]] {
        own_[part] = is_shared(part) ? stalls.time([&] { return make_own(part); }) : make_own(part);
      }
    }
    return reinterpret_cast<float*>(own_[first] + begin % part_nbytes_);
  }

  Snapshot snapshot(std::uint64_t token) {
    std::ranges::fill(own_, nullptr);
    return {token, clone_rows()};
  }

  StallLog stalls;

 protected:
  Table(const Plan& plan, std::size_t part_nbytes)
      : row_nbytes_(plan.row_nbytes()),
        part_nbytes_(part_nbytes),
        own_((plan.table_nbytes() + part_nbytes - 1) / part_nbytes) {}

  void initialize_rows(const Plan& plan) {
    for (std::uint32_t number = 0; number < plan.rows; ++number) {
      initialize_row(row(number), number, plan.dimensions);
    }
    stalls = {};  // no snapshot is the reason of these writes
  }

  virtual decltype(Snapshot::rows) clone_rows() = 0;
  virtual std::byte* make_own(std::size_t part) = 0;
  virtual bool is_shared(std::size_t) const { return true; }

  std::size_t row_nbytes_;
  std::size_t part_nbytes_;
  std::vector<std::byte*> own_;  ///< by part: its bytes, if it was written since the last snapshot
};

/// In storages of some rows each. A snapshot is a clone of every one. A lazy clone takes a moment, and a storage is copied
/// when training first writes to it while the snapshot is still there.
class StorageTable final : public Table {
 public:
  enum class Cloning { lazy, eager };

  StorageTable(const Plan& plan, std::uint32_t tile_rows, byre::Allocator& allocator,
               Cloning cloning)
      : Table(plan, tile_rows * plan.row_nbytes()), cloning_(cloning) {
    while (tiles_.size() < own_.size()) {
      tiles_.push_back(byre::Storage::allocate(part_nbytes_, allocator));
      std::memset(tiles_.back().mutable_data(), 0, part_nbytes_);
    }
    initialize_rows(plan);
  }

 private:
  decltype(Snapshot::rows) clone_rows() override {
    std::vector<byre::Storage> clones;
    for (const byre::Storage& tile : tiles_) {
      clones.push_back(tile.lazy_clone());
      if (cloning_ == Cloning::eager) {
        clones.back().materialize();  // the copy that a write would make later, made now
      }
    }
    return clones;
  }
  std::byte* make_own(std::size_t tile) override { return tiles_[tile].mutable_data(); }
  bool is_shared(std::size_t tile) const override { return !tiles_[tile].is_unique(); }

  Cloning cloning_;
  std::vector<byre::Storage> tiles_;
};

/// In one storage of paged memory. A snapshot is one lazy clone, and the system copies the pages that training writes.
class PagedTable final : public Table {
 public:
  explicit PagedTable(const Plan& plan)
      : Table(plan, static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        rows_(byre::Storage::allocate(plan.table_nbytes(), byre::paged_allocator())) {
    initialize_rows(plan);
  }

 private:
  decltype(Snapshot::rows) clone_rows() override {
    return std::vector<byre::Storage>{rows_.lazy_clone()};
  }
  std::byte* make_own(std::size_t page) override {
    const std::size_t begin = page * part_nbytes_;
    return rows_.mutable_range(begin, std::min(part_nbytes_, rows_.nbytes() - begin)).data();
  }

  byre::Storage rows_;
};

/// In one tiled buffer. A snapshot is a copy of it, of one atomic add, and a tile is copied when training first writes to
/// it.
class TiledTable final : public Table {
 public:
  TiledTable(const Plan& plan, std::uint32_t tile_rows, byre::Allocator& allocator)
      : Table(plan, tile_rows * plan.row_nbytes()),
        rows_(plan.table_nbytes(), allocator, part_nbytes_) {
    initialize_rows(plan);
  }

 private:
  decltype(Snapshot::rows) clone_rows() override { return rows_.lazy_clone(); }
  std::byte* make_own(std::size_t tile) override { return rows_.mutable_tile(tile).data(); }

  byre::TiledBuffer rows_;
};

}  // namespace examples::live_checkpoint
