// SPDX-License-Identifier: BSL-1.0
/// Children of a fork, and threads of the parent that are in the middle of something meanwhile.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <boost/thread/thread.hpp>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <utility>

#include "pages/children.hpp"
#include "support/at_once.hpp"
#include "support/function_ref.hpp"

namespace byre::test {

/// Runs `child` in a child process, and expects that it ends and returns true.
inline void expect_of_a_child(FunctionRef<bool()> child) {
  in_a_child([&] { EXPECT_TRUE(child()); });
}

/// A thread that is in the middle of something: `work` enters the halt that it is given, and goes on when this ends.
class Meanwhile {
 public:
  explicit Meanwhile(std::function<void(Halt&)> work)
      : thread_([this, work = std::move(work)] { work(halt_); }) {
    halt_.await_entry();
  }
  ~Meanwhile() {
    halt_.let_go();
    thread_.join();
  }
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;

 private:
  Halt halt_;
  boost::thread thread_;
};

}  // namespace byre::test
