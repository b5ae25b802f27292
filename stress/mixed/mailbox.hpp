// SPDX-License-Identifier: BSL-1.0
/// Mailbox: where threads hand values to another thread.
#pragma once

#include <boost/circular_buffer.hpp>

#include <mutex>
#include <optional>
#include <utility>

namespace byre::stress {

/// Thread-safe. The lock orders giver and taker, as every way to hand an object over does.
template <class Value>
class Mailbox {
 public:
  /// A full mailbox takes no more, and leaves the value with the caller.
  void put(Value&& value) {
    const std::lock_guard lock(mutex_);
    if (!values_.full()) {
      values_.push_back(std::move(value));
    }
  }

  std::optional<Value> take() {
    const std::lock_guard lock(mutex_);
    if (values_.empty()) {
      return std::nullopt;
    }
    std::optional<Value> value(std::move(values_.front()));
    values_.pop_front();
    return value;
  }

  /// While no other thread uses it.
  const boost::circular_buffer<Value>& values() const noexcept { return values_; }
  void clear() { values_.clear(); }

 private:
  std::mutex mutex_;
  boost::circular_buffer<Value> values_{4};
};

}  // namespace byre::stress
