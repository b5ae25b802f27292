// SPDX-License-Identifier: BSL-1.0
/// The threads of a run. The destructor ends and joins them, also if a thread could not be started
/// or their supervisor threw: no thread outlives the data that it uses.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <utility>

namespace byre::stress {

/// Used by one thread.
class ThreadGroup {
 public:
  /// `stop` makes the threads end. The destructor calls it once. It must not throw.
  explicit ThreadGroup(std::function<void()> stop) : stop_(std::move(stop)) {}
  ~ThreadGroup() {
    stop_();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  /// Throws std::system_error.
  template <class Act>
  void start(Act act) {
    threads_.emplace_back(std::move(act));
  }

 private:
  const std::function<void()> stop_;
  std::deque<std::thread> threads_;
};

}  // namespace byre::stress
