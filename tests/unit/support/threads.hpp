// SPDX-License-Identifier: BSL-1.0
/// Rounds: the same threads begin a step together, again and again.
#pragma once

#include <boost/thread/barrier.hpp>
#include <boost/thread/thread.hpp>
#include <concepts>
#include <cstddef>
#include <functional>
#include <vector>

namespace byre::test {

/// Runs `rounds` rounds. In each, `prepare(round)` runs alone, then `act(thread)` on every thread
/// at once, then `check(round)` alone.
inline void run_rounds(std::size_t threads, std::size_t rounds,
                       const std::function<void(std::size_t)>& prepare,
                       const std::function<void(std::size_t)>& act,
                       const std::function<void(std::size_t)>& check) {
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

/// Yields until `condition()`.
template <std::predicate Condition>
void yield_until(Condition condition) {
  while (!condition()) {
    boost::this_thread::yield();
  }
}

}  // namespace byre::test
