// SPDX-License-Identifier: BSL-1.0
/// The installed handler of warnings. A plain mutex guards the handler, the standard library's in
/// each build, because warnings are not a fast path and error/ includes no other folder.
#pragma once

#include <byre/error/error.hpp>

#include <mutex>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

class InstalledHandler {
 public:
  explicit InstalledHandler(WarningHandler handler) noexcept : handler_(handler) {}

  WarningHandler exchange(WarningHandler handler) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(handler_, handler);
  }
  WarningHandler get() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    return handler_;
  }

  /// Held while the process forks, so that the mutex is free in the child.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  WarningHandler handler_;
};

/// The handler of the process. In programs that link the locks of core, process_state.cpp calls
/// this function at load time, so no fork can interrupt the construction of the handler.
InstalledHandler& warning_handler() noexcept;

}  // namespace byre::inline BYRE_ABI::detail
