// SPDX-License-Identifier: BSL-1.0
/// Counters of what copy-on-write did: how many copies were made, and how many were not. Each
/// thread counts into a shard of its own, so that counting costs an add on a private line.
#pragma once

#include <byre/config.hpp>

#include <boost/atomic/atomic.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace byre::inline v0::stats {

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
  std::int64_t overlays = 0;
  std::int64_t pinned_bytes = 0;  ///< bytes of paged data without an owner, kept by overlays

  friend bool operator==(const Counters&, const Counters&) = default;
};

/// What was counted between two snapshots.
BYRE_API Counters operator-(const Counters& after, const Counters& before) noexcept;

/// The sum over all threads, ended ones included; zeros where stats are disabled. Exact for what
/// happened before the call, approximate for what happens during it. Takes a lock that only other
/// snapshots and starting or ending threads take. Thread-safe.
BYRE_API Counters snapshot() noexcept;

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
};
inline constexpr std::size_t counter_count = 10;

namespace detail {

/// Whether there is a listener: a copy sink for all threads, or a recording for one thread. It is
/// read before any lock is taken. Approximate while it changes; exact for a thread that was told of
/// the change. Relaxed, as what the flag tells of is read under its lock. Wait-free.
class RelaxedFlag {
 public:
  constexpr RelaxedFlag() noexcept : value_(0) {}

  bool is_set() const noexcept { return value_.load(boost::memory_order_relaxed) != 0; }
  void set(bool value) noexcept { value_.store(value ? 1 : 0, boost::memory_order_relaxed); }

 private:
  boost::atomic<std::uint32_t> value_;
};

/// The counters of one thread: written by it alone, read by snapshots. Relaxed, as a count
/// publishes no data, and a load and a store lose no count of one writer. Lives in the thread's own
/// storage; a thread that ends adds it to the sum of the ended ones. Wait-free; nothing throws.
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

  /// Whether its thread has nothing to do but to count: it is enlisted, and there is no recording.
  /// Set under the lock of the list.
  RelaxedFlag only_counts;
  bool is_enlisted = false;  ///< snapshots see it; used by its thread only
  Shard* next = nullptr;     ///< in the list of those that snapshots see, under its lock

 private:
  struct Cell : boost::atomic<std::int64_t> {
    constexpr Cell() noexcept : boost::atomic<std::int64_t>(0) {}
  };
  static constexpr std::size_t index_of(Counter counter) noexcept {
    return static_cast<std::size_t>(counter);
  }

  std::array<Cell, counter_count> cells_;
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

/// Each snapshot asks `nbytes` for the pinned bytes from now on. It takes no lock of these
/// statistics. Thread-safe.
void set_source_of_pinned_bytes(std::int64_t (*nbytes)() noexcept) noexcept;

BYRE_API BYRE_TLS_MODEL extern constinit thread_local Shard this_threads_shard;

/// Counts for a thread that begins to count, or is ending, or while there is a recording.
[[gnu::cold]] BYRE_API void count_slowly(Change change) noexcept;

/// While there are recordings, each thread asks whether it is to record what it does. `by` more or
/// fewer of them are there now. Thread-safe; a thread may miss what it does meanwhile.
void change_recordings(std::int64_t by) noexcept;

/// Whether this thread has to ask whether there is a recording. True for one that has not counted
/// yet, too.
inline bool may_record() noexcept {
  return BYRE_STATS && !this_threads_shard.only_counts.is_set();
}

/// Counts; where there may be a recording, calls `slowly()` in place of that, which counts the same
/// and records it: to ask costs no more than to count does. `slowly` does not throw, and is best
/// one call.
template <class Slowly, std::same_as<Change>... Changes>
[[gnu::always_inline]] inline void count_or_else(Slowly slowly, Changes... changes) noexcept {
  if (may_record()) [[unlikely]] {
    slowly();
  } else if (BYRE_STATS) {
    (this_threads_shard.add(changes.counter, changes.value), ...);
  }
}

template <std::same_as<Change>... Changes>
[[gnu::always_inline]] inline void count(Changes... changes) noexcept {
  count_or_else([=]() noexcept { (count_slowly(changes), ...); }, changes...);
}

/// Where may_record() is false: the same, with the counters read before `step` and written after
/// it, which an atomic step would otherwise hold up twice. `step` counts nothing itself and does
/// not throw.
template <class Step, std::same_as<Change>... Changes>
[[gnu::always_inline]] inline void count_quickly_around(Step step, Changes... changes) noexcept {
  if (!BYRE_STATS) {
    return step();
  }
  const std::int64_t values[] = {this_threads_shard.get(changes.counter) + changes.value...};
  step();
  const std::int64_t* value = values;
  (this_threads_shard.set(changes.counter, *value++), ...);
}

}  // namespace detail
}  // namespace byre::inline v0::stats
