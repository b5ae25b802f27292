// SPDX-License-Identifier: BSL-1.0
#include "workers.hpp"

#include <time.h>
#include <algorithm>
#include <boost/thread/scoped_thread.hpp>
#include <chrono>
#include <exception>
#include <future>
#include <vector>

namespace examples::branching_cache {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t thread_processor_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

struct Worker {
  Part part{};
  Clock::time_point begin;
  Clock::time_point end;
  std::int64_t processor_ns = 0;
  std::exception_ptr error;

  void run(const std::shared_future<void>& start, const std::function<void(Part)>& work) noexcept {
    try {
      start.get();
      begin = Clock::now();
      const std::int64_t processor_begin = thread_processor_ns();
      work(part);
      processor_ns = thread_processor_ns() - processor_begin;
      end = Clock::now();
    } catch (...) {
      error = std::current_exception();
    }
  }
};

}  // namespace

Spent on_threads(std::size_t threads, std::size_t branches, const std::function<void(Part)>& work) {
  std::vector<Worker> workers(threads);
  {
    std::vector<boost::scoped_thread<>> running;
    running.reserve(threads);
    std::promise<void>
        start;  // ends before the threads do: they go on where not all can be started
    const std::shared_future<void> started = start.get_future().share();
    for (std::size_t number = 0; number < threads; ++number) {
      workers[number].part = {number * branches / threads, (number + 1) * branches / threads};
      running.emplace_back(
          [&worker = workers[number], started, &work] { worker.run(started, work); });
    }
    start.set_value();
  }
  for (const Worker& worker : workers) {
    if (worker.error != nullptr) {
      std::rethrow_exception(worker.error);
    }
  }
  const auto first = std::ranges::min_element(workers, {}, &Worker::begin)->begin;
  const auto last = std::ranges::max_element(workers, {}, &Worker::end)->end;
  Spent spent{std::chrono::duration_cast<std::chrono::nanoseconds>(last - first).count(), 0};
  for (const Worker& worker : workers) {
    spent.processor_ns += worker.processor_ns;
  }
  return spent;
}

}  // namespace examples::branching_cache
