// SPDX-License-Identifier: BSL-1.0
/// What is counted, the counters of one thread, and whether anybody wants to hear of what happens.
#pragma once

#include <byre/sync/boost.hpp>
#include <byre/sync/sync.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::stats {

enum class Counter : std::uint8_t {
  lazy_clones,  ///< lazy clones made
  copies,  ///< copies of data made: by a write, by a clone of memory that others write, by a resize
  steals,  ///< writes that found others at the data and were left with it
  waits,   ///< times a writer was parked until a pending copy ended
  bytes_cloned,     ///< bytes lazily cloned
  bytes_unshared,   ///< bytes of the copies that writes to shared data made
  bytes_otherwise,  ///< bytes of the other copies
  live_bytes,       ///< bytes of data in memory that allocators gave to buffers
  pooled_bytes,     ///< bytes idle in recycling pools, in blocks of 64 KiB and more
  overlays,         ///< overlays mapped, by writes to paged data
  pinned_bytes,     ///< bytes of paged data that nobody owns any more, kept by overlays
};
inline constexpr std::size_t counter_count = 11;

namespace detail {

enum class RelaxedFlagSite : std::uint8_t { is_set, set };

inline constexpr sync::SiteTable<RelaxedFlagSite, 2> relaxed_flag_sites{{{
    {"relaxed_flag.is_set", sync::Operation::load, std::memory_order::relaxed,
     "nothing: what the flag tells of is read under its lock", "relaxed is the weakest order"},
    {"relaxed_flag.set", sync::Operation::store, std::memory_order::relaxed,
     "nothing: a copy concurrent with an installation may be missed by it",
     "relaxed is the weakest order; left out, copies_race_an_installation: no sink is called"},
}}};

/// Whether anybody wants to hear of what happens, which is asked before any lock is taken: of all copies, a sink;
/// of one thread, a recording. Approximate while it changes; exact for who was told of the change. Wait-free.
template <sync::Sync Sync>
class basic_relaxed_flag {
 public:
  constexpr basic_relaxed_flag() noexcept : value_(0) {}

  bool is_set() const noexcept {
    // Relaxed, and pairs with nothing: what the flag tells of is read under its lock.
    return value_.load(relaxed_flag_sites.at(At::is_set, std::memory_order::relaxed)) != 0;
  }
  void set(bool value) noexcept {
    // Relaxed, and pairs with nothing.
    value_.store(value ? 1 : 0, relaxed_flag_sites.at(At::set, std::memory_order::relaxed));
  }

 private:
  using At = RelaxedFlagSite;

  typename Sync::template Atomic<std::uint32_t> value_;
};

using RelaxedFlag = basic_relaxed_flag<sync::Boost>;

enum class ShardSite : std::uint8_t { read, write };

inline constexpr sync::SiteTable<ShardSite, 2> shard_sites{{{
    {"stats.read", sync::Operation::load, std::memory_order::relaxed,
     "nothing: a count publishes no data; a snapshot after a join is exact by the join's edge",
     "relaxed is the weakest order"},
    {"stats.write", sync::Operation::store, std::memory_order::relaxed,
     "nothing: only its own thread writes a shard, so a load and a store lose no count",
     "relaxed is the weakest order; left out, counts_race_a_snapshot: nothing is counted"},
}}};

/// The counters of one thread: written by it alone, read by snapshots. Lives in the thread's own
/// storage; a thread that ends adds it to the sum of the ended ones. Wait-free; nothing throws.
template <sync::Sync Sync>
class basic_shard {
 public:
  std::int64_t get(Counter counter) const noexcept {
    // Relaxed, and pairs with nothing: a count publishes no data.
    return static_cast<std::int64_t>(
        cells_[index_of(counter)].load(shard_sites.at(At::read, std::memory_order::relaxed)));
  }
  void set(Counter counter, std::int64_t value) noexcept {
    // Relaxed, and pairs with nothing: with one writer no count is lost.
    cells_[index_of(counter)].store(static_cast<std::uint64_t>(value),
                                    shard_sites.at(At::write, std::memory_order::relaxed));
  }
  [[gnu::always_inline]] void add(Counter counter, std::int64_t value) noexcept {
    set(counter, get(counter) + value);
  }

  bool is_enlisted() const noexcept { return enlisted_; }
  void set_enlisted(bool enlisted) noexcept { enlisted_ = enlisted; }

  /// Whether its thread has nothing to do but to count: it is enlisted, and there is no recording. Set under the
  /// lock of the list.
  bool only_counts() const noexcept { return only_counts_.is_set(); }
  void set_only_counts(bool only_counts) noexcept { only_counts_.set(only_counts); }

  basic_shard* next = nullptr;  ///< in the list of those that snapshots see, under its lock

 private:
  using At = ShardSite;

  struct Cell : Sync::template Atomic<std::uint64_t> {
    constexpr Cell() noexcept : Sync::template Atomic<std::uint64_t>(0) {}
  };
  static constexpr std::size_t index_of(Counter counter) noexcept {
    return static_cast<std::size_t>(counter);
  }

  std::array<Cell, counter_count> cells_;
  basic_relaxed_flag<Sync> only_counts_;
  bool enlisted_ = false;  // snapshots see it; used by its thread only
};

using Shard = basic_shard<sync::Boost>;

}  // namespace detail
}  // namespace byre::inline v0::stats
