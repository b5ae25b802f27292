// SPDX-License-Identifier: BSL-1.0
/// Child processes, and threads of the parent that are stopped in the middle of an operation during
/// a fork. Such threads are lost in the child: they do not exist there.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>

#include "pages/children.hpp"
#include "support/at_once.hpp"
#include "support/function_ref.hpp"

namespace byre::test {

/// Runs `child` in a child process. Expects that the process ends, and that `child` returns true.
inline void expect_true_in_child(FunctionRef<bool()> child) {
  in_a_child([&] { EXPECT_TRUE(child()); });
}

/// Runs `work` on a new thread and stops the thread in the middle of it: `work` calls enter() of
/// its argument, and enter() returns when this object is destroyed.
class StoppedThread {
 public:
  explicit StoppedThread(std::function<void(Halt&)> work)
      : thread_([this, work = std::move(work)] { work(halt_); }) {
    halt_.await_entry();
  }
  ~StoppedThread() {
    halt_.let_go();
    thread_.join();
  }
  StoppedThread(const StoppedThread&) = delete;
  StoppedThread& operator=(const StoppedThread&) = delete;

 private:
  Halt halt_;
  std::thread thread_;
};

}  // namespace byre::test
