// SPDX-License-Identifier: BSL-1.0
/// What a piece of code has cost since, by the counters that any program can ask.
#pragma once

#include <byre/config.hpp>
#include <byre/observe/counters.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace byre::test {

/// Counted since it was made. A build without stats counts nothing, and agrees to everything.
class Costs {
 public:
  testing::AssertionResult copied(std::size_t nbytes) const {
    return is(since().bytes_copied, nbytes, "bytes copied");
  }
  testing::AssertionResult overlaid(std::size_t times) const {
    return is(since().overlays, times, "overlays mapped");
  }
  /// Bytes of memory that came on top, for good or until now.
  testing::AssertionResult grew_by_at_most(std::size_t nbytes) const {
    const std::int64_t grown = since().live_bytes;
    return grown <= static_cast<std::int64_t>(nbytes)
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << grown << " bytes more are in use, of " << nbytes;
  }

 private:
  stats::Counters since() const { return stats::snapshot() - before_; }

  static testing::AssertionResult is(std::int64_t counted, std::size_t expected, const char* what) {
    return !BYRE_STATS || counted == static_cast<std::int64_t>(expected)
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << counted << " " << what << ", and not " << expected;
  }

  const stats::Counters before_ = stats::snapshot();
};

}  // namespace byre::test
