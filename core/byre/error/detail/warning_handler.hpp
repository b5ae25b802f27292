// SPDX-License-Identifier: BSL-1.0
/// The handler of warnings, under a lock: error stands beside the seam, and warnings are no fast path.
#pragma once

#include <byre/error/error.hpp>

#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <utility>

namespace byre::inline v0::detail {

class InstalledHandler {
 public:
  explicit InstalledHandler(WarningHandler handler) noexcept : handler_(handler) {}

  WarningHandler exchange(WarningHandler handler) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return std::exchange(handler_, handler);
  }
  WarningHandler get() noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return handler_;
  }

  /// While the process forks.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  boost::mutex mutex_;
  WarningHandler handler_;
};

/// That of the process. Made before a fork can come in between, where core's locks are linked.
InstalledHandler& warning_handler() noexcept;

}  // namespace byre::inline v0::detail
