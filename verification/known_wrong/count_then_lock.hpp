// SPDX-License-Identifier: BSL-1.0
/// The protocol as it was published in 2023, and is wrong: it lowers the count and then takes a
/// lock that lives beside it, which the last owner may have freed by then. docs/protocol.md has the
/// schedule.
#pragma once

#include <byre/cow/share_word.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

#include "../step_of.hpp"

namespace byre::verification {

/// In the place of basic_share_word.
template <sync::Sync Sync>
class basic_count_then_lock {
 public:
  basic_count_then_lock() : count_(1) {}

  void add_owner() noexcept { count_.fetch_add(1, step_of<"count_then_lock.add">(relaxed)); }

  bool drop_owner() noexcept {
    if (was_last()) {
      return true;
    }
    unlock_copy();
    return false;
  }

  bool is_writable() const noexcept { return false; }  // a write asks by giving up its reference
  bool is_unique() const noexcept { return use_count() == 1; }
  std::uint32_t use_count() const noexcept {
    return count_.load(step_of<"count_then_lock.count">(acquire));
  }

  Claim claim(Wait = Wait::allowed) noexcept {
    if (!was_last()) {
      return Claim::copy;
    }
    count_.store(1, step_of<"count_then_lock.restore">(relaxed));
    return Claim::steal;
  }

  bool finish_copy() noexcept {
    unlock_copy();
    return false;
  }

  void abandon_copy() noexcept {
    add_owner();
    unlock_copy();
  }

 private:
  /// Waits for pending copies if it was; else holds the shared lock.
  bool was_last() noexcept {
    if (count_.fetch_sub(1, step_of<"count_then_lock.drop">(acq_rel)) == 1) {
      mutex_.lock(step_of<"count_then_lock.lock_last">());
      mutex_.unlock(step_of<"count_then_lock.unlock_last">());
      return true;
    }
    mutex_.lock_shared(step_of<"count_then_lock.lock_copy">());
    return false;
  }

  void unlock_copy() noexcept { mutex_.unlock_shared(step_of<"count_then_lock.unlock_copy">()); }

  typename Sync::template Atomic<std::uint32_t> count_;
  typename Sync::SharedMutex mutex_;
};

}  // namespace byre::verification
