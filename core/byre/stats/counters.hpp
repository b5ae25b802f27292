// SPDX-License-Identifier: BSL-1.0
/// Counters of what copy-on-write did: how many copies were made, and how many were not. Each
/// thread counts into a shard of its own, so that counting costs an add on a private line.
#pragma once

#include <byre/config.hpp>
#include <byre/sync/boost.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::stats {

enum class Counter : std::uint8_t {
  lazy_clones,  ///< lazy clones made
  copies,       ///< copies of data made: by a write, by a clone of borrowed memory, by a resize
  steals,  ///< writes by a last owner that others left, or copied for, only while it claimed the data
  waits,            ///< times a writer was parked until a pending copy ended
  bytes_cloned,     ///< bytes lazily cloned
  bytes_unshared,   ///< bytes of the copies that writes to shared data made
  bytes_otherwise,  ///< bytes of the other copies
  live_bytes,       ///< bytes of data in memory that allocators gave to buffers
  pooled_bytes,     ///< bytes idle in recycling pools, in blocks of 64 KiB and more
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

enum class ShardSite : std::uint8_t { read, write };

inline constexpr sync::SiteTable<ShardSite, 2> shard_sites{{{
    {"stats.read", sync::Operation::load, std::memory_order::relaxed,
     "nothing: a count publishes no data; a snapshot after a join is exact by the join's edge",
     "relaxed is the weakest order; left out, nothing is counted"},
    {"stats.write", sync::Operation::store, std::memory_order::relaxed,
     "nothing: only its own thread writes a shard, so a load and a store lose no count",
     "relaxed is the weakest order; left out, nothing is counted"},
}}};

/// The counters of one thread: written by it alone, read by snapshots. Lives in the thread's own
/// storage; a thread that ends adds it to the sum of the ended ones.
class Shard {
 public:
  std::int64_t get(Counter counter) const noexcept {
    // Relaxed, and pairs with nothing: a count publishes no data.
    return cells_[index_of(counter)].load(
        shard_sites.at(ShardSite::read, std::memory_order::relaxed));
  }
  void set(Counter counter, std::int64_t value) noexcept {
    // Relaxed, and pairs with nothing: with one writer no count is lost.
    cells_[index_of(counter)].store(value,
                                    shard_sites.at(ShardSite::write, std::memory_order::relaxed));
  }
  void add(Counter counter, std::int64_t value) noexcept { set(counter, get(counter) + value); }

  bool is_enlisted() const noexcept { return enlisted_; }
  void set_enlisted(bool enlisted) noexcept { enlisted_ = enlisted; }

 private:
  struct Cell : sync::Boost::Atomic<std::int64_t> {
    constexpr Cell() noexcept : Atomic(0) {}
  };
  static constexpr std::size_t index_of(Counter counter) noexcept {
    return static_cast<std::size_t>(counter);
  }

  std::array<Cell, counter_count> cells_;
  bool enlisted_ = false;  // snapshots see it; used by its thread only
};

/// A change of a counter.
struct Change {
  Counter counter;
  std::int64_t value;
};

constexpr Change plus(Counter counter, std::size_t value = 1) noexcept {
  return {counter, static_cast<std::int64_t>(value)};
}
constexpr Change minus(Counter counter, std::size_t value) noexcept {
  return {counter, -static_cast<std::int64_t>(value)};
}

#if BYRE_STATS

#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
extern constinit thread_local Shard this_threads_shard;

/// Counts for a thread that begins to count, or that is ending.
[[gnu::cold]] void count_unlisted(Change change) noexcept;

template <std::same_as<Change>... Changes>
[[gnu::always_inline]] inline void count(Changes... changes) noexcept {
  if (this_threads_shard.is_enlisted()) [[likely]] {
    (this_threads_shard.add(changes.counter, changes.value), ...);
  } else {
    (count_unlisted(changes), ...);
  }
}

/// The same, with the counters read before `step` and written after it, which an atomic step would
/// otherwise hold up twice. `step` counts nothing itself and does not throw.
template <class Step, std::same_as<Change>... Changes>
[[gnu::always_inline]] inline void count_around(Step step, Changes... changes) noexcept {
  if (this_threads_shard.is_enlisted()) [[likely]] {
    const std::int64_t values[] = {this_threads_shard.get(changes.counter) + changes.value...};
    step();
    const std::int64_t* value = values;
    (this_threads_shard.set(changes.counter, *value++), ...);
  } else {
    step();
    (count_unlisted(changes), ...);
  }
}

#else

template <std::same_as<Change>... Changes>
void count(Changes...) noexcept {}

template <class Step, std::same_as<Change>... Changes>
void count_around(Step step, Changes...) noexcept {
  step();
}

#endif

}  // namespace detail
}  // namespace byre::inline v0::stats
