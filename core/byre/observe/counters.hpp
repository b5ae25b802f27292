// SPDX-License-Identifier: BSL-1.0
/// Counters of copy-on-write: lazy clones, copies, steals, and the bytes that were and were not
/// copied. Each thread counts in its own shard, so counting costs an addition on a private cache
/// line.
#pragma once

#include <byre/config.hpp>
#include <byre/sync/detail/relaxed.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::stats {

/// The counters at one moment, or the difference of two snapshots. The enumeration Counter
/// documents them.
struct Counters {
  std::int64_t lazy_clones = 0;
  std::int64_t copies = 0;
  std::int64_t steals = 0;
  std::int64_t waits = 0;
  std::int64_t bytes_copied = 0;
  /// Bytes that eager clones would have copied and lazy clones have not copied so far.
  std::int64_t bytes_not_copied = 0;
  std::int64_t live_bytes = 0;
  std::int64_t pooled_bytes = 0;
  std::int64_t overlays = 0;
  std::int64_t pinned_bytes = 0;  ///< bytes of paged data that only overlays use, not owners

  friend bool operator==(const Counters&, const Counters&) = default;
};

/// The counts between two snapshots.
BYRE_API Counters operator-(const Counters& after, const Counters& before) noexcept;

/// Returns the sums over all threads, including ended threads; zeros in a build without stats
/// (Meson option). Exact for events before the call, approximate for events during the call. Cost:
/// O(n) in the number of threads, under a lock that only snapshots, recordings, and starting or
/// ending threads take. Thread-safe.
BYRE_API Counters snapshot() noexcept;

enum class Counter : std::uint8_t {
  lazy_clones,  ///< lazy clones made
  copies,  ///< copies made: by a write, by a resize, or by a clone of memory that others may write
  steals,  ///< writes by the last owner of data that had been shared, made without a copy
  waits,   ///< times a writer was parked until a pending copy ended
  bytes_cloned,     ///< bytes lazily cloned
  bytes_unshared,   ///< bytes of copies made by writes to shared data
  bytes_otherwise,  ///< bytes of all other copies
  live_bytes,       ///< bytes of data in memory that allocators provided to buffers
  pooled_bytes,     ///< idle bytes in recycling pools, in blocks of at least 64 KiB
  /// overlays mapped by writes to paged data; an overlay is a private mapping of the data's pages
  overlays,
  // These serve memory_report(). Only slow operations change them.
  paged_bytes,     ///< the part of live_bytes that is in files of pages
  mapped_bytes,    ///< bytes of mapped files
  adopted_bytes,   ///< bytes of adopted memory
  overhead_bytes,  ///< bytes that recycling pools mapped in front of their blocks, for headers
  pending_bytes,   ///< bytes that submitted copies, which have not ended, read
  device_bytes,    ///< the part of live_bytes and adopted_bytes that is on devices
};
inline constexpr std::size_t counter_count = 16;

namespace detail {

/// A flag that tells if there is a listener: a copy sink (one flag for all threads) or a recording
/// (one flag per thread). A thread reads the flag before it takes any lock. While the flag changes,
/// other threads may still read the old value; a thread that synchronized with the change reads the
/// new value. Relaxed, because the data of a listener is accessed under a lock.
class RelaxedFlag {
 public:
  bool is_set() const noexcept { return value_.value() != 0; }
  void set(bool value) noexcept { value_.set(value ? 1 : 0); }

 private:
  sync::detail::Relaxed<std::uint32_t> value_;
};

/// The counters of one thread. Only that thread writes them; snapshots read them. Relaxed: a count
/// publishes no data, and counting by a load and a store loses no count, because there is one
/// writer. A shard is a thread-local object; a thread that ends adds its counts to the sum of the
/// ended threads. Wait-free; nothing throws.
class Shard {
 public:
  std::int64_t get(Counter counter) const noexcept { return cells_[index_of(counter)].value(); }
  void set(Counter counter, std::int64_t value) noexcept { cells_[index_of(counter)].set(value); }
  [[gnu::always_inline]] void add(Counter counter, std::int64_t value) noexcept {
    set(counter, get(counter) + value);
  }

  /// True if the thread only has to count: its shard is in the list and there is no listener. Set
  /// under the lock of the list.
  RelaxedFlag only_counts;
  /// True if the shard is in the list that snapshots read; used by its thread only.
  bool is_enlisted = false;
  Shard* next = nullptr;  ///< next shard in the list; protected by the lock of the list

 private:
  static constexpr std::size_t index_of(Counter counter) noexcept {
    return static_cast<std::size_t>(counter);
  }

  std::array<sync::detail::Relaxed<std::int64_t>, counter_count> cells_;
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

/// Sets the function that snapshot() calls for the pinned bytes. `nbytes` must not take the lock of
/// these statistics. Thread-safe.
void set_source_of_pinned_bytes(std::int64_t (*nbytes)() noexcept) noexcept;

#if BYRE_NATIVE_TLS
BYRE_API BYRE_TLS_MODEL extern constinit thread_local Shard shard_of_thread;
[[gnu::always_inline]] inline Shard& this_threads_shard() noexcept {
  return shard_of_thread;
}
#else
BYRE_API Shard& this_threads_shard() noexcept;
#endif

/// The slow path of count(): for a thread that counts for the first time or is ending, or if there
/// is a listener.
[[gnu::cold]] BYRE_API void count_slowly(Change change) noexcept;

/// Adds `by` to the number of listeners (recordings, and the ledger of tagged memory), and updates
/// Shard::only_counts of all threads. Thread-safe. A listener may miss events of other threads
/// during the call.
void change_listeners(std::int64_t by) noexcept;

/// Adds the counts of all threads, including ended threads, to `sums`.
void add_counts(Shard& sums) noexcept;

/// True if this thread must check for a listener: there is one, or the thread has not counted yet.
inline bool may_record() noexcept {
  return BYRE_STATS && !this_threads_shard().only_counts.is_set();
}

/// Counts `changes`. If there may be a listener, calls `slowly()` instead, which must count
/// `changes` and report the event to it. count() needs the check for a listener too, so the check
/// adds no cost. `slowly` must not throw, and should be a single call.
template <class Slowly, std::same_as<Change>... Changes>
[[gnu::always_inline]] inline void count_or_else(Slowly slowly, Changes... changes) noexcept {
  if (may_record()) [[unlikely]] {
    slowly();
  } else if (BYRE_STATS) {
    Shard& shard = this_threads_shard();
    (shard.add(changes.counter, changes.value), ...);
  }
}

template <std::same_as<Change>... Changes>
[[gnu::always_inline]] inline void count(Changes... changes) noexcept {
  count_or_else([=]() noexcept { (count_slowly(changes), ...); }, changes...);
}

/// Counts `changes` and calls `step()`. Requires that may_record() is false. The counters are
/// loaded before `step` and stored after it: an atomic operation in `step` would otherwise delay
/// both. Requires that `step` changes no counters and does not throw.
template <class Step, std::same_as<Change>... Changes>
[[gnu::always_inline]] inline void count_quickly_around(Step step, Changes... changes) noexcept {
  if (!BYRE_STATS) {
    return step();
  }
  Shard& shard = this_threads_shard();
  const std::int64_t values[] = {shard.get(changes.counter) + changes.value...};
  step();
  const std::int64_t* value = values;
  (shard.set(changes.counter, *value++), ...);
}

}  // namespace detail
}  // namespace byre::inline BYRE_ABI::stats
