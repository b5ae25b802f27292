// SPDX-License-Identifier: BSL-1.0
/// The building blocks of the parking lot and of the lock table that ship: locks of Boost.Thread,
/// and one table for each process. Include it only in sources, because Boost.Thread compiles
/// slowly.
#pragma once

#include <byre/sync/detail/process_state.hpp>
#include <byre/sync/detail/site.hpp>

#include <boost/thread/condition_variable.hpp>
// Not thread_only.hpp, the public header that includes thread_interruption.hpp: it uses
// std::unary_function, which libc++ has removed.
#include <boost/thread/detail/thread_interruption.hpp>
#include <boost/thread/lock_options.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/mutex.hpp>
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
  boost::mutex mutex_;
};

class TableCondition {
 public:
  void wait(TableMutex& mutex, Step) {
    // If an interruption of Boost.Thread ended the wait, a claim would remain incomplete.
    const boost::this_thread::disable_interruption no_interruption;
    boost::unique_lock<boost::mutex> lock(mutex.mutex_, boost::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  void notify_all(Step) noexcept { condition_.notify_all(); }

 private:
  boost::condition_variable condition_;
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
