// SPDX-License-Identifier: BSL-1.0
/// The protocol as it is published in 2026, and is wrong: an owner that sees others copies first, and lowers the
/// count when it is done, so that all may copy; each but the last then takes a lock that waits for no copy, in
/// what the last owner may have freed by then.
#pragma once

#include <byre/cow/share_word.hpp>
#include <byre/sync/sync.hpp>

#include <cstdint>

#include "../step_of.hpp"

namespace byre::verification {

/// Without the lock, nothing is touched too late, and still all may copy.
template <sync::Sync Sync, bool TakesLock>
class CopyThenCount {
 public:
  CopyThenCount() : count_(1) {}

  void add_owner() noexcept { count_.fetch_add(1, step_of<"copy_then_count.add">(relaxed)); }

  bool drop_owner() noexcept {
    const bool was_last = count_.fetch_sub(1, step_of<"copy_then_count.drop">(acq_rel)) == 1;
    if (TakesLock && was_last) {
      mutex_.lock(step_of<"copy_then_count.lock_last">());
      mutex_.unlock(step_of<"copy_then_count.unlock_last">());
    } else if (TakesLock) {
      mutex_.lock_shared(step_of<"copy_then_count.lock_other">());
      mutex_.unlock_shared(step_of<"copy_then_count.unlock_other">());
    }
    return was_last;
  }

  bool is_unique() const noexcept { return use_count() == 1; }
  std::uint32_t use_count() const noexcept {
    return count_.load(step_of<"copy_then_count.count">(acquire));
  }

  Claim claim(Wait = Wait::allowed) noexcept { return is_unique() ? Claim::steal : Claim::copy; }
  bool finish_copy() noexcept { return drop_owner(); }
  void abandon_copy() noexcept {}

 private:
  typename Sync::template Atomic<std::uint32_t> count_;
  typename Sync::SharedMutex mutex_;
};

/// In the place of basic_share_word.
template <sync::Sync Sync>
using basic_copy_then_count = CopyThenCount<Sync, true>;
template <sync::Sync Sync>
using basic_copy_then_count_unlocked = CopyThenCount<Sync, false>;

}  // namespace byre::verification
