// SPDX-License-Identifier: BSL-1.0
/// The building blocks of the parking lot and of the lock table that ship: the locks of
/// the seam, and one table for each process. Include it only in sources, as locks.hpp.
#pragma once

#include <byre/sync/detail/locks.hpp>
#include <byre/sync/detail/process_state.hpp>
#include <byre/sync/detail/site.hpp>

#include <new>

namespace byre::inline BYRE_ABI::sync::detail {

/// A mutex with the interface that basic_lock_table.hpp and basic_parking_lot.hpp require. It
/// ignores the Step.
class TableMutex {
 public:
  void lock(Step) { mutex_.lock(); }
  void unlock(Step) { mutex_.unlock(); }

 private:
  friend class TableCondition;
  NativeMutex mutex_;
};

class TableCondition {
 public:
  void wait(TableMutex& mutex, Step) {
    const WithoutInterruption no_interruption;
    NativeUniqueLock lock(mutex.mutex_, adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  void notify_all(Step) noexcept { condition_.notify_all(); }

 private:
  NativeCondition condition_;
};

/// A table that records only what threads are doing at the moment. The threads of a parent do not
/// exist in its child, so the child starts with a new table.
template <class Table>
class ProcessTable final : ProcessState {
 public:
  ProcessTable() { enter(); }

  Table table;

 private:
  void in_child() noexcept override { ::new (&table) Table; }
};

}  // namespace byre::inline BYRE_ABI::sync::detail
