// SPDX-License-Identifier: BSL-1.0
/// What is counted, the counters of one thread, and whether anybody wants to hear of what happens.
#pragma once

#include <boost/atomic/atomic.hpp>

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

/// Whether anybody wants to hear of what happens, which is asked before any lock is taken: of all copies, a sink;
/// of one thread, a recording. Approximate while it changes; exact for a thread that was told of the change. Relaxed,
/// as what the flag tells of is read under its lock. Wait-free.
class RelaxedFlag {
 public:
  constexpr RelaxedFlag() noexcept : value_(0) {}

  bool is_set() const noexcept { return value_.load(boost::memory_order_relaxed) != 0; }
  void set(bool value) noexcept { value_.store(value ? 1 : 0, boost::memory_order_relaxed); }

 private:
  boost::atomic<std::uint32_t> value_;
};

/// The counters of one thread: written by it alone, read by snapshots. Relaxed, as a count publishes no data, and a
/// load and a store lose no count of one writer. Lives in the thread's own storage; a thread that ends adds it to the
/// sum of the ended ones. Wait-free; nothing throws.
class Shard {
 public:
  std::int64_t get(Counter counter) const noexcept {
    return cells_[index_of(counter)].load(boost::memory_order_relaxed);
  }
  void set(Counter counter, std::int64_t value) noexcept {
    cells_[index_of(counter)].store(value, boost::memory_order_relaxed);
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

  Shard* next = nullptr;  ///< in the list of those that snapshots see, under its lock

 private:
  struct Cell : boost::atomic<std::int64_t> {
    constexpr Cell() noexcept : boost::atomic<std::int64_t>(0) {}
  };
  static constexpr std::size_t index_of(Counter counter) noexcept {
    return static_cast<std::size_t>(counter);
  }

  std::array<Cell, counter_count> cells_;
  RelaxedFlag only_counts_;
  bool enlisted_ = false;  // snapshots see it; used by its thread only
};

}  // namespace detail
}  // namespace byre::inline v0::stats
