// SPDX-License-Identifier: BSL-1.0
/// Counters of what copy-on-write did: how many copies were made, and how many were not. Each
/// thread counts into a shard of its own, so that counting costs an add on a private line.
#pragma once

#include <byre/config.hpp>
#include <byre/sync/boost.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::stats {

enum class Counter : std::uint8_t {
  lazy_clones,     ///< lazy clones made
  copies,          ///< copies of data made: by a write, by a clone of borrowed memory, by a resize
  steals,          ///< times the last owner of once shared data kept it for its write
  waits,           ///< times a writer was parked until a pending copy ended
  bytes_cloned,    ///< bytes lazily cloned
  bytes_copied,    ///< bytes of the copies
  bytes_unshared,  ///< bytes of the copies that made up for a lazy clone
  live_bytes,      ///< bytes of data in memory that allocators gave to buffers
  pooled_bytes,    ///< bytes idle in recycling pools
};
inline constexpr std::size_t counter_count = 9;

/// The counters at one moment, or the difference of two.
struct Counters {
  std::int64_t lazy_clones = 0;
  std::int64_t copies = 0;
  std::int64_t steals = 0;
  std::int64_t waits = 0;
  std::int64_t bytes_copied = 0;
  /// Bytes that eager clones would have copied and lazy ones have not, so far.
  std::int64_t bytes_not_copied = 0;
  std::int64_t live_bytes = 0;
  std::int64_t pooled_bytes = 0;

  friend Counters operator-(const Counters& after, const Counters& before) noexcept;
  friend bool operator==(const Counters&, const Counters&) = default;
};

/// The sum over all threads, ended ones included; zeros where stats are disabled. Exact for what
/// happened before the call, approximate for what happens during it. Takes a lock that only other
/// snapshots and starting or ending threads take. Thread-safe.
Counters snapshot() noexcept;

namespace detail {

enum class ShardSite : std::uint8_t { read, bump };

inline constexpr sync::SiteTable<ShardSite, 2> shard_sites{{{
    {"stats.read", sync::Operation::load, std::memory_order::relaxed,
     "nothing: a count publishes no data; a snapshot after a join is exact by the join's edge",
     "relaxed is the weakest order; left out, nothing is counted"},
    {"stats.bump", sync::Operation::store, std::memory_order::relaxed,
     "nothing: only its own thread writes a shard, so a load and a store lose no count",
     "relaxed is the weakest order; left out, nothing is counted"},
}}};

/// The counters of one thread: written by it alone, read by snapshots.
class Shard {
 public:
  std::int64_t get(Counter counter) const noexcept {
    return cell(counter).load(shard_sites.at(ShardSite::read, std::memory_order::relaxed));
  }
  void add(Counter counter, std::int64_t value) noexcept {
    auto& count = const_cast<Cell&>(cell(counter));
    count.store(get(counter) + value, shard_sites.at(ShardSite::bump, std::memory_order::relaxed));
  }

 private:
  struct Cell : sync::Boost::Atomic<std::int64_t> {
    Cell() noexcept : Atomic(0) {}
  };
  const Cell& cell(Counter counter) const noexcept {
    return cells_[static_cast<std::size_t>(counter)];
  }

  std::array<Cell, counter_count> cells_;
};

#if BYRE_STATS

/// Null until the thread first counts, and again once it is ending.
#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
extern constinit thread_local Shard* this_threads_shard;

/// Counts for a thread without a shard: gives it one, or adds to the sum of the ended threads.
[[gnu::cold]] void add_without_shard(Counter counter, std::int64_t value) noexcept;

inline void add_signed(Counter counter, std::int64_t value) noexcept {
  if (this_threads_shard != nullptr) [[likely]] {
    this_threads_shard->add(counter, value);
  } else {
    add_without_shard(counter, value);
  }
}

#else

inline void add_signed(Counter, std::int64_t) noexcept {}

#endif

inline void add(Counter counter, std::size_t value = 1) noexcept {
  add_signed(counter, static_cast<std::int64_t>(value));
}

inline void subtract(Counter counter, std::size_t value) noexcept {
  add_signed(counter, -static_cast<std::int64_t>(value));
}

}  // namespace detail
}  // namespace byre::inline v0::stats
