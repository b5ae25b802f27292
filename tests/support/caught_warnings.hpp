// SPDX-License-Identifier: BSL-1.0
/// CaughtWarnings: stores warnings instead of writing them to stderr.
#pragma once

#include <byre/error/error.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace byre::test {

/// Stores the warnings of all threads while it exists. At most one object may exist.
class CaughtWarnings {
 public:
  CaughtWarnings() : previous_(set_warning_handler(&store)) { texts_.clear(); }
  ~CaughtWarnings() { set_warning_handler(previous_); }
  CaughtWarnings(const CaughtWarnings&) = delete;
  CaughtWarnings& operator=(const CaughtWarnings&) = delete;

  std::vector<std::string> texts() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return texts_;
  }

 private:
  static void store(const char* text) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    texts_.emplace_back(text);
  }

  static inline std::mutex mutex_;
  static inline std::vector<std::string> texts_;
  const WarningHandler previous_;
};

}  // namespace byre::test
