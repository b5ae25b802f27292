// SPDX-License-Identifier: BSL-1.0
/// The embedding table: rows for training, and a place at which training publishes all rows, for
/// the thread that saves. Each implementation contains all uses of byre that a model needs.
#pragma once

#include "training.hpp"

#include <byre/memory/allocator.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/atomic_storage.hpp>
#include <byre/storage/storage.hpp>
#include <byre/storage/tiles/atomic_tiles.hpp>
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

/// The stalls of a run. A stall is one event in which the training thread does not train because of
/// snapshots: a call of publish() or Saver::begin(), or a write access to a part that a snapshot
/// shared. Waiting for the thread that saves does not count, because it depends only on the speed
/// of the disk.
///
/// Stalls are measured in wall-clock time, which includes preemption by other processes, as a user
/// would observe it. The thread's processor time shows the work of a stall itself.
struct StallLog {
  std::size_t events = 0;
  std::int64_t worst_ns = 0;
  std::int64_t total_ns = 0;
  std::int64_t worst_processor_ns = 0;

  /// Times `work` as one stall and returns its result.
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

/// All rows of a table: a tiled buffer, or a sequence of storages. The last storage may have unused
/// rows.
using Rows = std::variant<std::vector<byre::Storage>, byre::TiledBuffer>;

/// The table after `token` tokens.
struct Snapshot {
  std::uint64_t token;
  Rows rows;
};

/// A table whose rows are stored in parts: storages, pages or tiles. At the first write to a part
/// after publish(), training gets its own version of the part, which may be a copy. Only the
/// training thread may use a table, except load_published(). All members may throw
/// byre::OutOfMemory.
class Table {
 public:
  virtual ~Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// A row that may be read and written until the next publish(). `writable_` is needed only to
  /// time stalls: the program would also be correct if it requested write access from byre each
  /// time.
  float* row(std::uint32_t number) {
    const std::size_t begin = number * row_nbytes_;
    const std::size_t first = begin / part_nbytes_;
    for (std::size_t part = first; part * part_nbytes_ < begin + row_nbytes_; ++part) {
      if (writable_[part] == nullptr) [[unlikely]] {
        writable_[part] =
            is_shared(part) ? stalls.time([&] { return acquire_part(part); }) : acquire_part(part);
      }
    }
    return reinterpret_cast<float*>(writable_[first] + begin % part_nbytes_);
  }

  /// Publishes the rows as they are now.
  void publish() {
    std::ranges::fill(writable_, nullptr);
    publish_rows();
  }

  /// The rows that were published last. Called once for each publish(), by the thread that saves.
  virtual Rows load_published() = 0;

  StallLog stalls;

 protected:
  Table(const Plan& plan, std::size_t part_nbytes)
      : row_nbytes_(plan.row_nbytes()),
        part_nbytes_(part_nbytes),
        writable_((plan.table_nbytes() + part_nbytes - 1) / part_nbytes) {}

  void initialize_rows(const Plan& plan) {
    for (std::uint32_t number = 0; number < plan.rows; ++number) {
      initialize_row(row(number), number, plan.dimensions);
    }
    stalls = {};  // these writes were not caused by snapshots
  }

  virtual void publish_rows() = 0;
  virtual std::byte* acquire_part(std::size_t part) = 0;
  virtual bool is_shared(std::size_t) const { return true; }

  std::size_t row_nbytes_;
  std::size_t part_nbytes_;
  /// The bytes of each part, or null if the part was not written since the last publish().
  std::vector<std::byte*> writable_;
};

/// Stores some rows in each of many storages, and clones every storage to publish them. With lazy
/// clones, a storage is copied at the first write to it while the snapshot exists. The clones
/// cannot be replaced in one atomic step, so they depend on SavingThread::wait_for_room().
class StorageTable final : public Table {
 public:
  enum class Cloning { lazy, eager };

  StorageTable(const Plan& plan, std::uint32_t tile_rows, byre::Allocator& allocator,
               Cloning cloning)
      : Table(plan, tile_rows * plan.row_nbytes()), cloning_(cloning) {
    while (tiles_.size() < writable_.size()) {
      tiles_.push_back(byre::Storage::allocate(part_nbytes_, allocator));
      std::memset(tiles_.back().mutable_data(), 0, part_nbytes_);
    }
    initialize_rows(plan);
  }

  Rows load_published() override { return std::exchange(published_, {}); }

 private:
  void publish_rows() override {
    for (const byre::Storage& tile : tiles_) {
      published_.push_back(tile.lazy_clone());
      if (cloning_ == Cloning::eager) {
        published_.back().materialize();  // copies now instead of at a later write
      }
    }
  }
  std::byte* acquire_part(std::size_t tile) override { return tiles_[tile].mutable_data(); }
  bool is_shared(std::size_t tile) const override { return !tiles_[tile].is_unique(); }

  Cloning cloning_;
  std::vector<byre::Storage> tiles_;
  std::vector<byre::Storage> published_;
};

/// Stores all rows in one storage of paged memory, and publishes a lazy clone. The system copies
/// the pages that training writes. The thread that saves takes the clone out of its place: as soon
/// as the clone is saved, training writes without copies.
class PagedTable final : public Table {
 public:
  explicit PagedTable(const Plan& plan)
      : Table(plan, static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        rows_(byre::Storage::allocate(plan.table_nbytes(), byre::paged_allocator())) {
    initialize_rows(plan);
  }

  Rows load_published() override {
    return std::vector<byre::Storage>{published_.exchange(byre::Storage())};
  }

 private:
  void publish_rows() override { published_.store(rows_.lazy_clone()); }
  std::byte* acquire_part(std::size_t page) override {
    const std::size_t begin = page * part_nbytes_;
    return rows_.mutable_range(begin, std::min(part_nbytes_, rows_.nbytes() - begin)).data();
  }

  byre::Storage rows_;
  byre::AtomicStorage published_;
};

/// Stores all rows in one tiled buffer, and publishes a lazy clone, which costs an atomic add. A
/// tile is copied at the first write to it. The clone stays in its place until the next one
/// replaces it. This copies no more tiles, because the thread that saves keeps the clone until
/// then, too: it compares the next one with it.
class TiledTable final : public Table {
 public:
  TiledTable(const Plan& plan, std::uint32_t tile_rows, byre::Allocator& allocator)
      : Table(plan, tile_rows * plan.row_nbytes()),
        rows_(plan.table_nbytes(), allocator, part_nbytes_) {
    initialize_rows(plan);
  }

  Rows load_published() override { return published_.load(); }
  /// The published rows, which are not kept here any more.
  byre::TiledBuffer take_published() { return published_.exchange(byre::TiledBuffer()); }
  const byre::TiledBuffer& rows() const noexcept { return rows_; }

 private:
  void publish_rows() override { published_.store(rows_); }
  std::byte* acquire_part(std::size_t tile) override { return rows_.mutable_tile(tile).data(); }

  byre::TiledBuffer rows_;
  byre::AtomicTiles published_;
};

}  // namespace examples::live_checkpoint
