// SPDX-License-Identifier: BSL-1.0
/// Warnings, kept instead of written to stderr.
#pragma once

#include <byre/error/error.hpp>

#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <string>
#include <vector>

namespace byre::test {

/// Catches the warnings of all threads while it lives. One at a time.
class CaughtWarnings {
 public:
  CaughtWarnings() : previous_(set_warning_handler(&keep)) { kept_.clear(); }
  ~CaughtWarnings() { set_warning_handler(previous_); }
  CaughtWarnings(const CaughtWarnings&) = delete;
  CaughtWarnings& operator=(const CaughtWarnings&) = delete;

  std::vector<std::string> texts() const {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return kept_;
  }

 private:
  static void keep(const char* text) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    kept_.emplace_back(text);
  }

  static inline boost::mutex mutex_;
  static inline std::vector<std::string> kept_;
  const WarningHandler previous_;
};

}  // namespace byre::test
