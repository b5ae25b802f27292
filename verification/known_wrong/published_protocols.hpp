// SPDX-License-Identifier: BSL-1.0
/// Wrong protocols: the protocols published in 2023 and 2026, the textbook form with one step
/// moved, and a share word whose drop waits for copies. docs/protocol.md shows a failing schedule
/// of the first protocol.
#pragma once

#include <byre/sync/sync.hpp>

#include <cstdint>

#include "../reference/share_lock.hpp"

namespace byre::verification {

/// The protocol published in 2023: an owner lowers the count and then takes a lock next to the
/// count. The last owner may have freed both by then. Replaces basic_share_word.
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

  bool is_writable() const noexcept { return false; }  // only claim() can tell
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
  /// If the caller was the last owner, waits for pending copies and returns true. Otherwise returns
  /// false, and the caller holds the shared lock.
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

/// The protocol published in 2026: an owner that finds other owners copies first and then lowers
/// the count, so all owners may copy. Each owner except the last then takes a lock. The lock does
/// not wait for copies, and the last owner may already have freed it. Without the lock (`TakesLock`
/// false) no freed memory is accessed, but all owners may still copy.
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

/// These two forms replace basic_share_word.
template <sync::Sync Sync>
using basic_copy_then_count = CopyThenCount<Sync, true>;
template <sync::Sync Sync>
using basic_copy_then_count_unlocked = CopyThenCount<Sync, false>;

/// The textbook form, except that an owner whose copy failed first abandons its claim and then
/// counts itself as an owner again. In between another owner finds itself the last owner, and
/// steals. Replaces basic_share_lock.
template <class Sync>
class UndoesAfterUnlock : public basic_share_lock<Sync> {
 public:
  void abandon_copy() noexcept {
    static_cast<void>(this->finish_copy());
    this->add_owner();
  }
};

/// A drop waits until all copies have ended, as the drop of the last lazy clone did in the form
/// published in 2023.
template <class Sync>
class DropWaitsForCopies : public basic_share_word<Sync> {
 public:
  Claim claim(Wait wait = Wait::allowed) {
    const Claim claimed = basic_share_word<Sync>::claim(wait);
    if (claimed == Claim::copy) {
      copies_.fetch_add(1, step_of<"drop_waits.begin_copy">(relaxed));
    }
    return claimed;
  }
  bool drop_owner() {
    while (are_pending()) {
      Sync::park(
          place, [this] { return are_pending(); }, step_of<"drop_waits.park">());
    }
    return basic_share_word<Sync>::drop_owner();
  }
  bool finish_copy() {
    copies_.fetch_sub(1, step_of<"drop_waits.end_copy">(relaxed));
    Sync::unpark_all(place, step_of<"drop_waits.unpark">());
    return basic_share_word<Sync>::finish_copy();
  }

 private:
  static constexpr const void* place = "where drops wait";

  bool are_pending() const { return copies_.load(step_of<"drop_waits.load_copies">(relaxed)) != 0; }

  typename Sync::template Atomic<std::uint32_t> copies_{0};
};

}  // namespace byre::verification
