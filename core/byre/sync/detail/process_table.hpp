// SPDX-License-Identifier: BSL-1.0
/// What the tables beside objects, of those who wait and of those who lock, are made of where they ship:
/// Boost.Thread's locks, one table for the process. For sources alone: Boost.Thread takes long to compile.
#pragma once

#include <byre/sync/detail/process_state.hpp>
#include <byre/sync/detail/site.hpp>

#include <boost/thread/condition_variable.hpp>
// Whose public header, thread_only.hpp, uses std::unary_function, which libc++ has no more.
#include <boost/thread/detail/thread_interruption.hpp>
#include <boost/thread/lock_options.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/mutex.hpp>
#include <new>

namespace byre::inline v0::sync::detail {

/// A lock whose steps cost nothing more than themselves.
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
    // A wait that ended by an interruption would leave a claim half done.
    const boost::this_thread::disable_interruption no_interruption;
    boost::unique_lock<boost::mutex> lock(mutex.mutex_, boost::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  void notify_all(Step) noexcept { condition_.notify_all(); }

 private:
  boost::condition_variable condition_;
};

/// A table that knows nothing but what threads do at the moment. Those of a parent do nothing in its child,
/// which begins with a new table.
template <class Table>
class ProcessTable final : ProcessState {
 public:
  ProcessTable() { enter(); }

  Table table;

 private:
  void in_child() noexcept override { ::new (&table) Table; }
};

}  // namespace byre::inline v0::sync::detail
