// SPDX-License-Identifier: BSL-1.0
/// AddressLock: threads that change one object one after another lock its address, in a table beside it. So
/// the object needs no room for a lock, it may be destroyed as soon as nobody uses it, and who never locks
/// pays nothing.
///
/// A lock may be held for long, and over calls of the user's code: the table itself is locked only to look an
/// address up.
#pragma once

#include <byre/config.hpp>
#include <byre/sync/boost.hpp>
#include <byre/sync/detail/parking_lot.hpp>
#include <byre/sync/sync.hpp>

namespace byre::inline v0::sync::detail {

/// Who holds the lock of an address: lives on that thread's stack.
template <Sync Sync>
struct LockHolder {
  explicit LockHolder(const void* of) noexcept : address(of) {}

  const void* const address;
  typename Sync::template Plain<LockHolder*> next{nullptr};  ///< of the same bucket
};

/// The table of a Sync.
template <Sync Sync>
struct LockTable;

/// In lock_table.cpp; basic_lock_table.hpp says what the functions do.
template <>
struct BYRE_API LockTable<Boost> {
  using Holder = LockHolder<Boost>;
  [[nodiscard]] static bool lock_unless(Holder& holder, ConditionRef is_done);
  static void unlock(Holder& holder) noexcept;
};

/// Any other Sync of real threads has the same; a checker has one of its own.
template <Sync Sync>
struct LockTable : LockTable<Boost> {};

/// Holds the lock of an address, unless nothing was left to be done. A thread waits for whoever holds it,
/// which may not be the thread itself. No interruption point of Boost.Thread.
template <Sync Sync>
class [[nodiscard]] AddressLock {
 public:
  explicit AddressLock(const void* address) : AddressLock(address, [] { return false; }) {}
  /// `is_done()` is asked while nobody holds the lock, one thread at a time, and sees what was done under it.
  /// It has to be short, since it runs under a lock of the table. What it throws is thrown.
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

  /// False iff there was nothing left to be done.
  bool is_held() const noexcept { return is_held_; }

 private:
  using Table = LockTable<Sync>;

  typename Table::Holder holder_;
  const bool is_held_;
};

}  // namespace byre::inline v0::sync::detail
