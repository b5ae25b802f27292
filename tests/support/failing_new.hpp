// SPDX-License-Identifier: BSL-1.0
/// Replaces operator new of the whole test program by one that can be told to fail.
#pragma once

#include <cstddef>
#include <limits>

namespace byre::test {

inline constexpr int never_fails = std::numeric_limits<int>::max();

/// The number of calls of operator new on this thread that succeed before a call fails.
extern constinit thread_local int news_before_failure;

/// Whether all calls after the first failed call fail, too.
extern constinit thread_local bool failures_persist;

/// Calls on this thread that request more than this number of bytes fail.
extern constinit thread_local std::size_t max_nbytes_of_new;

/// Set when a call on this thread fails.
extern constinit thread_local bool new_failed;

/// The number of successful calls on this thread minus the number of deletes.
extern constinit thread_local std::ptrdiff_t live_new_count;

using Act = void (*)();
/// If not null, the next call on this thread first calls this function, and resets it to null.
extern constinit thread_local Act before_next_new;

enum class Failures : bool { one, all_that_follow };

/// While an object exists, call number `nth` of operator new on this thread, counted from 0, fails.
/// With Failures::all_that_follow, all later calls fail too.
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
