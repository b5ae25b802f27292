// SPDX-License-Identifier: BSL-1.0
/// operator new, replaced for the whole test program by one that can be told to fail.
#pragma once

#include <cstddef>
#include <limits>

namespace byre::test {

inline constexpr int never_fails = std::numeric_limits<int>::max();

/// How many more calls on this thread succeed before one fails.
extern constinit thread_local int news_before_failure;

/// Whether all that follow fail, too, once one did.
extern constinit thread_local bool failures_persist;

/// Larger ones fail on this thread.
extern constinit thread_local std::size_t max_nbytes_of_new;

/// Set when one failed.
extern constinit thread_local bool new_failed;

/// How many more were made on this thread than deleted.
extern constinit thread_local std::ptrdiff_t live_new_count;

using Act = void (*)();
/// What the next call on this thread does first, once.
extern constinit thread_local Act before_next_new;

enum class Failures : bool { one, all_that_follow };

/// While it lives, the thread's operator new fails, once or from then on: the `nth` from here on, counted
/// from 0.
class FailingNew {
 public:
  explicit FailingNew(int nth = 0, Failures failures = Failures::one) noexcept {
    new_failed = false;
    failures_persist = failures == Failures::all_that_follow;
    news_before_failure = nth;
  }
  ~FailingNew() {
    failures_persist = false;
    news_before_failure = never_fails;
  }
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
};

}  // namespace byre::test
