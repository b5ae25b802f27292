// SPDX-License-Identifier: BSL-1.0
/// Fixture: the common part of the scenarios of all races. It provides their memory, contents that
/// identify their writer, counts of the operations of each thread, and the list of failures.
#pragma once

#include <byre/storage/buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "../perturbed/perturbed.hpp"
#include "../programs/trace.hpp"
#include "quarantine.hpp"
#include "race.hpp"
#include "support/random.hpp"

namespace byre::stress::races {

template <class Buffer>
struct SyncOf;
template <class With>
struct SyncOf<basic_buffer<With>> {
  using Sync = With;
};

/// A member that takes the number of a thread may be called by that thread at any time. The
/// comments of the other members state when they may be called.
class Fixture {
 public:
  explicit Fixture(const RaceSettings& settings)
      : threads(settings.threads),
        nbytes(settings.nbytes),
        seed(settings.seed),
        counts_(settings.threads) {}

  const unsigned threads;
  const std::size_t nbytes;
  const std::uint64_t seed;
  std::uint64_t round = 0;  ///< counted from 0
  Quarantine memory;
  bool counts_copies = true;  ///< compare recorded clones and copies with byre's counters
  bool counts_steals = true;  ///< compare steals, too

  /// The stamp of the contents that a thread writes in this round. Never 0.
  std::uint64_t stamp(unsigned thread) const noexcept { return (round + 1) * 256 + thread; }
  /// The stamp of the contents at the start of a round.
  std::uint64_t original() const noexcept { return stamp(255); }
  /// A number that depends only on seed, round and thread.
  std::uint64_t number_of(unsigned thread) const noexcept {
    return seed_of_thread(seed, stamp(thread)) >> 40;
  }

  /// A buffer with one owner. Called between rounds.
  template <class Buffer>
  Buffer filled(std::uint64_t stamp) {
    Buffer buffer = Buffer::allocate(nbytes, memory);
    fill(buffer.mutable_data(), stamp);
    return buffer;
  }

  /// Fills the data with copies of the stamp.
  void fill(std::byte* data, std::uint64_t stamp) const noexcept;
  /// Fails if a byte does not match the stamp. Called by any thread.
  template <class Buffer>
  void expect_content(const Buffer& buffer, std::uint64_t stamp, const char* what) {
    expect_bytes(buffer.data(), stamp, what);
  }

  template <class Buffer>
  Buffer clone(unsigned thread, const Buffer& source) {
    record("clones");
    Buffer clone = source.lazy_clone();
    ++counts_[thread].counts.clones;
    return clone;
  }

  /// Counts operations of a history.
  void count_logged(unsigned thread, std::uint64_t operations) noexcept {
    counts_[thread].counts.logged += operations;
  }
  /// Counts a write of the thread by its result.
  void count(unsigned thread, Materialized how) noexcept;

  /// Materializes the data, checks that its contents match `expected`, and writes the stamp of the
  /// thread.
  template <class Buffer>
  Materialized write(unsigned thread, Buffer& buffer, std::uint64_t expected,
                     Wait wait = Wait::allowed) {
    record("requests write access");
    const std::byte* const shared = buffer.data();
    const Materialized how = buffer.materialize(wait);
    count(thread, how);
    // Not mutable_data(), which would materialize again. In the textbook form of the protocol, a
    // copier releases in two steps, so the second call could count as another steal.
    finish_write(thread, shared, const_cast<std::byte*>(buffer.data()), how, expected);
    return how;
  }

  /// Like write(), but the copy fails if `fails` is true. Returns false if it failed.
  template <class Buffer>
  bool try_write(unsigned thread, Buffer& buffer, std::uint64_t expected, bool fails) {
    bool has_written = true;
    Quarantine::next_copy_fails = fails;
    try {
      write(thread, buffer, expected);
    } catch (const CopyFailed&) {
      has_written = false;
    }
    Quarantine::next_copy_fails = false;
    return has_written;
  }

  template <class Buffer>
  void drop(unsigned thread, Buffer& buffer) {
    record("drops");
    buffer = Buffer();
    ++counts_[thread].counts.drops;
    record("dropped");
  }

  /// Calls `turn` `count` times, each time with a new random number. The numbers depend only on
  /// seed, round and thread. If the race is perturbed, delays the thread between the calls.
  template <class Turn>
  void take_turns(unsigned thread, int count, Turn turn) {
    test::RandomEngine random(seed_of_thread(seed + round * most_threads, thread));
    for (; count > 0; --count) {
      const stress::detail::Window window;
      turn(random());
    }
  }

  /// Records a step that the thread is about to take, or has taken.
  void record(const char* step) noexcept { programs::trace_words(step); }

  // Any thread may call the next three members.

  void expect(bool holds, const char* what) {
    if (!holds) [[unlikely]] {
      fail(std::string("violated: ") + what);
    }
  }
  void expect_equal(std::uint64_t is, std::uint64_t expected, const char* what) {
    if (is != expected) [[unlikely]] {
      fail_unequal(is, expected, what);
    }
  }
  [[gnu::cold]] void fail(const std::string& what);

  // The members below are called between rounds.

  RaceCounts counts() const noexcept;
  void next_round() noexcept;
  const std::vector<std::string>& failures() const noexcept { return failures_; }
  bool has_failed() const noexcept { return !failures_.empty(); }

 private:
  struct alignas(64) OfThread {
    RaceCounts counts;
  };

  void expect_bytes(const std::byte* data, std::uint64_t stamp, const char* what);
  void finish_write(unsigned thread, const std::byte* shared, std::byte* data, Materialized how,
                    std::uint64_t expected);
  [[gnu::cold]] void fail_unequal(std::uint64_t is, std::uint64_t expected, const char* what);

  std::vector<OfThread> counts_;
  std::mutex mutex_;
  std::vector<std::string> failures_;
};

}  // namespace byre::stress::races
