// SPDX-License-Identifier: BSL-1.0
/// Runs work on several threads at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace examples {

/// The nanoseconds that `work()` takes.
template <class Work>
std::int64_t time_ns(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
}

/// Joins a thread in its destructor.
class JoiningThread {
 public:
  template <class Work>
  explicit JoiningThread(Work&& work) : thread_(std::forward<Work>(work)) {}
  JoiningThread(JoiningThread&&) = default;
  ~JoiningThread() {
    if (thread_.joinable()) {
      thread_.join();
    }
  }

 private:
  std::thread thread_;
};

/// Calls `work(number)` for each number below `count` on its own thread, and waits for all threads.
/// If calls throw, rethrows the exception of the lowest number.
template <class Work>
void on_threads(std::size_t count, const Work& work) {
  std::vector<std::exception_ptr> errors(count);
  {
    std::vector<JoiningThread> threads;
    for (std::size_t number = 0; number < count; ++number) {
      threads.emplace_back([&work, &error = errors[number], number] {
        try {
          work(number);
        } catch (...) {
          error = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) {
      std::rethrow_exception(error);
    }
  }
}

}  // namespace examples
