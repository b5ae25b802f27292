// SPDX-License-Identifier: BSL-1.0
/// The threads of a run. All have ended when it is destroyed, also where a thread could not be started or
/// their supervisor threw: none outlives the data it works on.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <utility>

namespace byre::stress {

/// For one thread.
class ThreadGroup {
 public:
  /// `stop` makes the threads end. It is called once, by the destructor, and must not throw.
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
