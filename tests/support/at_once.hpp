// SPDX-License-Identifier: BSL-1.0
/// Threads that start together, and ways to wait for another thread that do not depend on time.
#pragma once

#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "support/function_ref.hpp"

namespace byre::test {

/// Used in place of std::barrier, which loses wake-ups on Windows with libstdc++ 12.
class Barrier {
 public:
  explicit Barrier(std::size_t threads) noexcept : threads_(threads) {}

  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    if (++arrived_ == threads_) {
      arrived_ = 0;
      ++phase_;
      changed_.notify_all();
    } else {
      changed_.wait(lock, [&, phase = phase_] { return phase_ != phase; });
    }
  }

 private:
  const std::size_t threads_;
  std::size_t arrived_ = 0;
  std::size_t phase_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

inline void join(std::vector<std::thread>& group) {
  for (std::thread& thread : group) {
    thread.join();
  }
}

/// Runs `act(thread)` on `threads` threads concurrently, and joins them. No thread starts `act`
/// before all threads exist.
inline void at_once(std::size_t threads, FunctionRef<void(std::size_t)> act) {
  Barrier start(threads);
  std::vector<std::thread> group;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    group.emplace_back([&, thread] {
      start.arrive_and_wait();
      act(thread);
    });
  }
  join(group);
}

/// Runs `rounds` rounds. In each round, `prepare(round)` runs alone, then `act(thread)` runs on all
/// threads concurrently, then `check(round)` runs alone.
inline void run_rounds(std::size_t threads, std::size_t rounds,
                       FunctionRef<void(std::size_t)> prepare, FunctionRef<void(std::size_t)> act,
                       FunctionRef<void(std::size_t)> check) {
  Barrier barrier(threads + 1);
  std::vector<std::thread> group;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    group.emplace_back([&, thread] {
      for (std::size_t round = 0; round < rounds; ++round) {
        barrier.arrive_and_wait();
        act(thread);
        barrier.arrive_and_wait();
      }
    });
  }
  for (std::size_t round = 0; round < rounds; ++round) {
    prepare(round);
    barrier.arrive_and_wait();
    barrier.arrive_and_wait();
    check(round);
  }
  join(group);
}

/// Runs `act()` on another thread, and joins it.
inline void on_another_thread(FunctionRef<void()> act) {
  std::thread(act).join();
}

/// Skips a test in a build without threads before it has effects. Only a test that could not end at
/// the first thread that it starts needs this call.
inline void need_threads() {
  on_another_thread([] {});
}

/// Yields until `condition()` is true.
template <std::predicate Condition>
void await(Condition condition) {
  while (!condition()) {
    std::this_thread::yield();
  }
}

/// Stops one thread in enter() until another thread calls let_go().
class Halt {
 public:
  void enter() {
    std::unique_lock<std::mutex> lock(mutex_);
    entered_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return let_go_; });
  }
  void await_entry() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return entered_; });
  }
  void let_go() {
    const std::lock_guard<std::mutex> lock(mutex_);
    let_go_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool entered_ = false;
  bool let_go_ = false;
};

}  // namespace byre::test
