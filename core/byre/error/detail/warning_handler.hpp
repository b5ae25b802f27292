// SPDX-License-Identifier: BSL-1.0
/// The installed handler of warnings. A plain mutex guards the handler, instead of a lock-free type
/// of sync/, because warnings are not a fast path and error/ includes no other folder.
#pragma once

#include <byre/error/error.hpp>

#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

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

  /// Held while the process forks, so that the mutex is free in the child.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  boost::mutex mutex_;
  WarningHandler handler_;
};

/// The handler of the process. In programs that link the locks of core, process_state.cpp calls
/// this function at load time, so no fork can interrupt the construction of the handler.
InstalledHandler& warning_handler() noexcept;

}  // namespace byre::inline BYRE_ABI::detail
