// SPDX-License-Identifier: BSL-1.0
/// Stage: what the stories of all races need: memory, content that tells whose it is, a tally of
/// what was done, and a place to say what went wrong.
#pragma once

#include <byre/storage/buffer.hpp>

#include <boost/thread/mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "quarantine.hpp"
#include "race.hpp"

namespace byre::stress::races {

/// What one thread, or all, did.
struct Deeds {
  std::uint64_t clones = 0;
  std::uint64_t copied = 0;
  std::uint64_t stole = 0;
  std::uint64_t unique = 0;
  std::uint64_t drops = 0;

  /// Writers that kept the data they shared.
  std::uint64_t kept() const noexcept { return stole + unique; }
  std::uint64_t operations() const noexcept { return clones + copied + kept() + drops; }
  Deeds& operator+=(const Deeds& other) noexcept;
};

/// Thread-safe where it takes a thread's number, or says so.
class Stage {
 public:
  explicit Stage(const RaceSettings& settings)
      : threads(settings.threads),
        nbytes(settings.nbytes),
        seed(settings.seed),
        steps_(settings.steps),
        tallies_(settings.threads) {}

  const unsigned threads;
  const std::size_t nbytes;
  const std::uint64_t seed;
  std::uint64_t round = 0;  ///< counted from 0
  Quarantine memory;
  bool tells_of_copies = true;  ///< the tally has all clones, copies and steals that are counted

  /// Whose a content is: a thread's of this round, or the original. Never 0.
  std::uint64_t stamp(unsigned thread) const noexcept { return (round + 1) * 256 + thread; }
  std::uint64_t original() const noexcept { return stamp(255); }

  /// A buffer that nobody shares yet.
  template <class Buffer>
  Buffer filled(std::uint64_t stamp) {
    Buffer buffer = Buffer::allocate(nbytes, memory);
    fill(buffer.mutable_data(), stamp);
    return buffer;
  }

  /// From the first byte to the last, over and over.
  void fill(std::byte* data, std::uint64_t stamp) const noexcept;
  /// Thread-safe: says so if not all bytes are of `stamp`.
  template <class Buffer>
  void expect_content(const Buffer& buffer, std::uint64_t stamp, const char* what) {
    expect_bytes(buffer.data(), stamp, what);
  }

  template <class Buffer>
  Buffer clone(unsigned thread, const Buffer& source) {
    note(thread, "clones");
    Buffer clone = source.lazy_clone();
    ++tallies_[thread].tally.clones;
    return clone;
  }

  /// Makes the data the thread's own, reads what is expected, and writes the thread's stamp.
  template <class Buffer>
  Materialized write(unsigned thread, Buffer& buffer, std::uint64_t expected,
                     Wait wait = Wait::allowed) {
    note(thread, "asks to write");
    const std::byte* const shared = buffer.data();
    const Materialized how = buffer.materialize(wait);
    count(thread, how);
    expect((buffer.data() != shared) == (how == Materialized::copied), "only a copy moves");
    expect_content(buffer, expected, "what a writer finds");
    // mutable_data() would ask again, and the textbook form, whose copiers let go in two steps, may
    // answer, and count, that it stole again.
    fill(const_cast<std::byte*>(buffer.data()), stamp(thread));
    expect_content(buffer, stamp(thread), "what a writer wrote");
    return how;
  }

  template <class Buffer>
  void drop(unsigned thread, Buffer& buffer) {
    note(thread, "drops");
    buffer = Buffer();
    ++tallies_[thread].tally.drops;
    note(thread, "dropped");
  }

  /// What the thread is about to do, or has done: a literal.
  void note(unsigned thread, const char* step) noexcept {
    if (steps_ != nullptr) {
      steps_->note(thread, round, step);
    }
  }

  /// Thread-safe.
  void expect(bool holds, const char* what) {
    if (!holds) [[unlikely]] {
      fail(what);
    }
  }
  void expect_equal(std::uint64_t is, std::uint64_t expected, const char* what) {
    if (is != expected) [[unlikely]] {
      fail_unequal(is, expected, what);
    }
  }
  [[gnu::cold]] void fail(const std::string& what);

  /// While nothing runs.
  Deeds tally() const noexcept;
  void next_round() noexcept;
  const std::vector<std::string>& failures() const noexcept { return failures_; }
  bool has_failed() const noexcept { return !failures_.empty(); }

 private:
  struct alignas(64) OfThread {
    Deeds tally;
  };

  void expect_bytes(const std::byte* data, std::uint64_t stamp, const char* what);
  void count(unsigned thread, Materialized how) noexcept;
  [[gnu::cold]] void fail_unequal(std::uint64_t is, std::uint64_t expected, const char* what);

  Steps* const steps_;
  std::vector<OfThread> tallies_;
  boost::mutex mutex_;
  std::vector<std::string> failures_;
};

}  // namespace byre::stress::races
