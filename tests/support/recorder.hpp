// SPDX-License-Identifier: BSL-1.0
/// A copy sink that remembers what it was told.
#pragma once

#include <byre/stats/events.hpp>

#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <vector>

namespace byre::test {

/// Installed while it lives. Thread-safe.
class Recorder {
 public:
  std::vector<stats::CopyEvent> events() const {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return events_;
  }

 private:
  mutable boost::mutex mutex_;
  std::vector<stats::CopyEvent> events_;
  stats::InstalledSink sink_{[this](const stats::CopyEvent& event) {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    events_.push_back(event);
  }};
};

}  // namespace byre::test
