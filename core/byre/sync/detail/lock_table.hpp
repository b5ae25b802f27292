// SPDX-License-Identifier: BSL-1.0
/// AddressLock: an exclusive lock of an address, stored in a table outside the object at that
/// address. Thus the object needs no space for a lock, may be destroyed as soon as no thread uses
/// it, and costs nothing for threads that never lock it.
///
/// A lock may be held for a long time, and across calls of user code: the table itself is locked
/// only while an address is looked up.
#pragma once

#include <byre/config.hpp>
#include <byre/sync/default.hpp>
#include <byre/sync/detail/parking_lot.hpp>
#include <byre/sync/sync.hpp>

namespace byre::inline BYRE_ABI::sync::detail {

/// Represents a thread that holds the lock of `address`. It is stored on the stack of that thread.
template <Sync Sync>
struct LockHolder {
  explicit LockHolder(const void* locked) noexcept : address(locked) {}

  const void* const address;
  typename Sync::template Plain<LockHolder*> next{nullptr};  ///< the next holder in the bucket
};

/// The lock table that AddressLock<Sync> uses.
template <Sync Sync>
struct LockTable;

/// Defined in lock_table.cpp. basic_lock_table.hpp documents the functions.
template <>
struct BYRE_API LockTable<Default> {
  using Holder = LockHolder<Default>;
  [[nodiscard]] static bool lock_unless(Holder& holder, ConditionRef is_done);
  static void unlock(Holder& holder) noexcept;
};

/// Every other Sync that runs real threads uses the table of Default. A model checker specializes
/// LockTable for its Sync.
template <Sync Sync>
struct LockTable : LockTable<Default> {};

/// Holds the lock of an address while it exists, unless `is_done()` was true. The constructor waits
/// while another thread holds the lock. Requires that the calling thread does not hold it (the lock
/// is not recursive). Waiting is not an interruption point of Boost.Thread.
template <Sync Sync>
class [[nodiscard]] AddressLock {
 public:
  explicit AddressLock(const void* address) : AddressLock(address, [] { return false; }) {}
  /// Calls `is_done()` while no thread holds the lock, and acquires the lock only if it returns
  /// false. Calls of `is_done()` for one address do not overlap, and everything that earlier
  /// holders did happens before the call. `is_done()` must be short, because it runs under a lock
  /// of the table. Throws what `is_done()` throws.
  template <class IsDone>
  AddressLock(const void* address, const IsDone& is_done)
      : holder_(address), is_held_(Table::lock_unless(holder_, ConditionRef(is_done))) {}
  ~AddressLock() {
    if (is_held_) {
      Table::unlock(holder_);
    }
  }
  AddressLock(const AddressLock&) = delete;
  AddressLock& operator=(const AddressLock&) = delete;

  /// False iff `is_done()` returned true.
  bool is_held() const noexcept { return is_held_; }

 private:
  using Table = LockTable<Sync>;

  typename Table::Holder holder_;
  const bool is_held_;
};

}  // namespace byre::inline BYRE_ABI::sync::detail
