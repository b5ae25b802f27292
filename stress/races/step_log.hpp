// SPDX-License-Identifier: BSL-1.0
/// What each thread of a race did last, for the report of a failure or a hang.
#pragma once

#include <boost/atomic/atomic.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace byre::stress::races {

/// Each thread records its own steps, and any thread reads them. Neither orders the threads: the protocol
/// has to do that.
class StepLog {
 public:
  explicit StepLog(unsigned threads) : threads_(threads) {}

  /// What `thread` is about to do in `round`, or has just done: a literal.
  void record(unsigned thread, std::uint64_t round, const char* step) noexcept;

  /// A line for each thread: its round, and its last steps there. A step under way may be missing.
  std::vector<std::string> lines() const;

 private:
  struct alignas(64) OfThread {
    boost::atomic<std::uint64_t> round{0};
    boost::atomic<std::uint64_t> count{0};
    std::array<boost::atomic<const char*>, 6> last{};
  };

  std::vector<OfThread> threads_;
};

}  // namespace byre::stress::races
