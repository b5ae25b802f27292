// SPDX-License-Identifier: BSL-1.0
#include "run.hpp"

#include <algorithm>
#include <boost/thread/scoped_thread.hpp>
#include <byre/memory/pool.hpp>
#include <chrono>
#include <exception>
#include <utility>

namespace examples::weights_overlay {
namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
std::int64_t time_ns(const Work& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

/// Calls `work(number)` for all numbers below `count` at once, and waits. Throws what one threw.
template <class Work>
void on_threads(std::size_t count, const Work& work) {
  std::vector<std::exception_ptr> errors(count);
  {
    std::vector<boost::scoped_thread<>> threads;
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

std::int64_t median(std::vector<std::int64_t> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

std::optional<std::int64_t> gained(const std::optional<ResidentMemory>& before,
                                   const std::optional<ResidentMemory>& after) {
  if (!before || !after) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(after->nbytes) - static_cast<std::int64_t>(before->nbytes);
}

}  // namespace

RunResult run(Cloning cloning, const Model& base, const Plan& plan) {
  // Neither run finds memory that the other one left.
  byre::default_pool().trim();
  release_free_memory();

  std::vector<Request> requests;
  for (std::size_t number = 0; number < plan.requests; ++number) {
    requests.emplace_back(plan.seed + number);
  }
  std::vector<std::int64_t> set_up(plan.requests);
  std::vector<std::int64_t> change(plan.requests);
  std::vector<std::int64_t> answer(plan.requests);
  const auto before = resident_memory();
  on_threads(plan.requests, [&](std::size_t number) {
    set_up[number] = time_ns([&] { requests[number].set_up(base, cloning); });
    change[number] = time_ns([&] { requests[number].change(plan.changed); });
  });
  const auto after = resident_memory();
  on_threads(plan.requests, [&](std::size_t number) {
    answer[number] = time_ns([&] { requests[number].answer(); });
  });

  RunResult result;
  result.cloning = cloning;
  result.set_up_ns = median(set_up);
  result.worst_set_up_ns = *std::ranges::max_element(set_up);
  result.change_ns = median(change);
  result.answer_ns = median(answer);
  result.resident_nbytes = gained(before, after);
  for (const Request& request : requests) {
    result.shared_nbytes += request.nbytes_shared_with(base);
    result.changed_layers.push_back(request.layers_that_differ_from(base));
    result.outputs.push_back(request.output());
  }
  result.copied_nbytes = plan.requests * plan.model_nbytes() - result.shared_nbytes;
  return result;
}

}  // namespace examples::weights_overlay
