// SPDX-License-Identifier: BSL-1.0
/// Counters of what copy-on-write did: how many copies were made, and how many were not. Each
/// thread counts into a shard of its own, so that counting costs an add on a private line.
#pragma once

#include <byre/config.hpp>
#include <byre/observe/detail/cells.hpp>

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
  std::int64_t pinned_bytes = 0;

  friend bool operator==(const Counters&, const Counters&) = default;
};

/// What was counted between two snapshots.
BYRE_API Counters operator-(const Counters& after, const Counters& before) noexcept;

/// The sum over all threads, ended ones included; zeros where stats are disabled. Exact for what
/// happened before the call, approximate for what happens during it. Takes a lock that only other
/// snapshots and starting or ending threads take. Thread-safe.
BYRE_API Counters snapshot() noexcept;

namespace detail {

/// A change of a counter.
struct Change {
  Counter counter;
  std::int64_t value;
};

/// A counter whose value is asked for at a snapshot. `value` takes no lock of this library's statistics.
struct Gauge {
  Counter counter;
  std::int64_t (*value)() noexcept;
  Gauge* next = nullptr;
};

constexpr Change plus(Counter counter, std::size_t value = 1) noexcept {
  return {counter, static_cast<std::int64_t>(value)};
}
constexpr Change minus(Counter counter, std::size_t value) noexcept {
  return {counter, -static_cast<std::int64_t>(value)};
}

#if BYRE_STATS

/// For the rest of the process: the gauge is never removed. Thread-safe.
void add_gauge(Gauge& gauge) noexcept;

BYRE_API BYRE_TLS_MODEL extern constinit thread_local Shard this_threads_shard;

/// Counts for a thread that begins to count, or is ending, or while there is a recording.
[[gnu::cold]] BYRE_API void count_slowly(Change change) noexcept;

/// From now on, or no longer, each thread asks whether it is to record what it does. Any number may ask for it.
/// Thread-safe; a thread may miss what it does meanwhile.
BYRE_API void add_recording() noexcept;
BYRE_API void remove_recording() noexcept;

/// Whether this thread has to ask whether there is a recording. True for one that has not counted yet, too.
inline bool may_record() noexcept {
  return !this_threads_shard.only_counts();
}

/// Counts; where there may be a recording, calls `slowly()` in place of that, which counts the same and records it:
/// to ask costs no more than to count does. `slowly` does not throw, and is best one call.
template <class Slowly, std::same_as<Change>... Changes>
[[gnu::always_inline]] inline void count_or_else(Slowly slowly, Changes... changes) noexcept {
  if (this_threads_shard.only_counts()) [[likely]] {
    (this_threads_shard.add(changes.counter, changes.value), ...);
  } else {
    slowly();
  }
}

template <std::same_as<Change>... Changes>
[[gnu::always_inline]] inline void count(Changes... changes) noexcept {
  if (this_threads_shard.only_counts()) [[likely]] {
    (this_threads_shard.add(changes.counter, changes.value), ...);
  } else {
    (count_slowly(changes), ...);
  }
}

/// Where may_record() is false: the same, with the counters read before `step` and written after it, which an
/// atomic step would otherwise hold up twice. `step` counts nothing itself and does not throw.
template <class Step, std::same_as<Change>... Changes>
[[gnu::always_inline]] inline void count_quickly_around(Step step, Changes... changes) noexcept {
  const std::int64_t values[] = {this_threads_shard.get(changes.counter) + changes.value...};
  step();
  const std::int64_t* value = values;
  (this_threads_shard.set(changes.counter, *value++), ...);
}

#else

inline void add_gauge(Gauge&) noexcept {}

inline bool may_record() noexcept {
  return false;
}

template <class Slowly, std::same_as<Change>... Changes>
void count_or_else(Slowly, Changes...) noexcept {}

template <std::same_as<Change>... Changes>
void count(Changes...) noexcept {}

template <class Step, std::same_as<Change>... Changes>
void count_quickly_around(Step step, Changes...) noexcept {
  step();
}

#endif

}  // namespace detail
}  // namespace byre::inline v0::stats
