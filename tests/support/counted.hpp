// SPDX-License-Identifier: BSL-1.0
/// Counters and copy events since a point in time.
#pragma once

#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>

#include <gtest/gtest.h>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace byre::test {

inline std::string text_of(const stats::Counters& counters) {
  std::ostringstream text;
  text << "lazy_clones " << counters.lazy_clones << ", copies " << counters.copies << ", steals "
       << counters.steals << ", waits " << counters.waits << ", bytes_copied "
       << counters.bytes_copied << ", bytes_not_copied " << counters.bytes_not_copied
       << ", live_bytes " << counters.live_bytes << ", pooled_bytes " << counters.pooled_bytes
       << ", overlays " << counters.overlays << ", pinned_bytes " << counters.pinned_bytes;
  return text.str();
}

/// Skips its tests in a build without stats.
class WithStats : public testing::Test {
 protected:
  void SetUp() override {
    if (!BYRE_STATS) {
      GTEST_SKIP() << "built without stats";
    }
  }
};

/// The change of the counters since the construction of the object.
class Counted {
 public:
  stats::Counters since() const { return stats::snapshot() - before_; }
  std::string text() const { return text_of(since()); }

 private:
  const stats::Counters before_ = stats::snapshot();
};

/// A copy sink that stores all events. It is installed while the object exists. Thread-safe.
class Recorder {
 public:
  std::vector<stats::CopyEvent> events() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return events_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<stats::CopyEvent> events_;
  stats::InstalledSink sink_{[this](const stats::CopyEvent& event) {
    const std::lock_guard<std::mutex> lock(mutex_);
    events_.push_back(event);
  }};
};

}  // namespace byre::test
