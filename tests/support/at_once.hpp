// SPDX-License-Identifier: BSL-1.0
/// Threads that start together, and ways to wait for another thread that do not depend on time.
#pragma once

#include <boost/thread/barrier.hpp>
#include <boost/thread/condition_variable.hpp>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/mutex.hpp>
#include <boost/thread/thread.hpp>
#include <concepts>
#include <cstddef>

#include "support/function_ref.hpp"

namespace byre::test {

/// Runs `act(thread)` on `threads` threads concurrently, and joins them. No thread starts `act`
/// before all threads exist.
inline void at_once(std::size_t threads, FunctionRef<void(std::size_t)> act) {
  boost::barrier start(static_cast<unsigned>(threads));
  boost::thread_group group;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    group.create_thread([&, thread] {
      start.wait();
      act(thread);
    });
  }
  group.join_all();
}

/// Runs `rounds` rounds. In each round, `prepare(round)` runs alone, then `act(thread)` runs on all
/// threads concurrently, then `check(round)` runs alone.
inline void run_rounds(std::size_t threads, std::size_t rounds,
                       FunctionRef<void(std::size_t)> prepare, FunctionRef<void(std::size_t)> act,
                       FunctionRef<void(std::size_t)> check) {
  boost::barrier barrier(static_cast<unsigned>(threads + 1));
  boost::thread_group group;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    group.create_thread([&, thread] {
      for (std::size_t round = 0; round < rounds; ++round) {
        barrier.wait();
        act(thread);
        barrier.wait();
      }
    });
  }
  for (std::size_t round = 0; round < rounds; ++round) {
    prepare(round);
    barrier.wait();
    barrier.wait();
    check(round);
  }
  group.join_all();
}

/// Runs `act()` on another thread, and joins it.
inline void on_another_thread(FunctionRef<void()> act) {
  boost::thread(act).join();
}

/// Yields until `condition()` is true.
template <std::predicate Condition>
void await(Condition condition) {
  while (!condition()) {
    boost::this_thread::yield();
  }
}

/// Stops one thread in enter() until another thread calls let_go().
class Halt {
 public:
  void enter() {
    boost::unique_lock<boost::mutex> lock(mutex_);
    entered_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return let_go_; });
  }
  void await_entry() {
    boost::unique_lock<boost::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return entered_; });
  }
  void let_go() {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    let_go_ = true;
    changed_.notify_all();
  }

 private:
  boost::mutex mutex_;
  boost::condition_variable changed_;
  bool entered_ = false;
  bool let_go_ = false;
};

}  // namespace byre::test
