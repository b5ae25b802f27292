// SPDX-License-Identifier: BSL-1.0
/// Escapes: the lines by which raw pointers to write to one storage left.
#pragma once

#include <byre/shadow/write_mark.hpp>

#include <algorithm>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <cstdint>
#include <exception>
#include <vector>

namespace byre::inline v0::shadow {

/// Thread-safe. Locks.
class Escapes {
 public:
  /// False if one left there before. Without memory it counts as one that did not.
  bool add(PlaceId place) noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    try {
      if (std::ranges::find(places_, place) != places_.end()) {
        return false;
      }
      places_.push_back(place);
    } catch (const std::exception&) {
      // Counted again rather than never.
    }
    ++count_;
    return true;
  }

  std::uint64_t count() const noexcept {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return count_;
  }

 private:
  mutable boost::mutex mutex_;
  std::vector<PlaceId> places_;  // few
  std::uint64_t count_ = 0;
};

}  // namespace byre::inline v0::shadow
