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

const char* to_string(Copying copying) noexcept {
  switch (copying) {
    case Copying::model:
      return "deep copies";
    case Copying::layers:
      return "lazy, loaded";
    case Copying::pages:
      break;
  }
  return "lazy, mapped";
}

RunResult run(Copying copying, const ModelFiles& files, const Plan& plan) {
  // No run finds memory that another one left.
  byre::default_pool().trim();
  release_free_memory();

  RunResult result;
  result.copying = copying;
  std::vector<Request> requests;  // then as many branches
  for (std::size_t number = 0; number < 2 * plan.requests; ++number) {
    requests.emplace_back(plan.seed + number);
  }
  std::vector<std::int64_t> set_up(plan.requests);
  std::vector<std::int64_t> change(plan.requests);
  std::vector<std::int64_t> branch(plan.requests);
  std::vector<std::int64_t> answer(2 * plan.requests);
  const Cloning cloning = copying == Copying::model ? Cloning::deep : Cloning::lazy;
  Model base;

  const auto before = resident_memory();
  result.open_ns = time_ns([&] { base = copying == Copying::layers ? files.load() : files.map(); });
  on_threads(plan.requests, [&](std::size_t number) {
    Request& request = requests[number];
    set_up[number] = time_ns([&] { request.set_up(base, cloning); });
    change[number] = time_ns([&] { request.change(plan.changed, plan.rows); });
    branch[number] = time_ns([&] {
      Request& its_branch = requests[plan.requests + number];
      its_branch.set_up(request, cloning);
      its_branch.change(plan.changed, plan.rows);
    });
  });
  const auto after = resident_memory();
  // A request answers after its branch was changed, which it must not see.
  on_threads(2 * plan.requests, [&](std::size_t number) {
    answer[number] = time_ns([&] { requests[number].answer(); });
  });

  result.set_up_ns = median(set_up);
  result.change_ns = median(change);
  result.branch_ns = median(branch);
  result.answer_ns = median(answer);
  result.resident_nbytes = gained(before, after);
  const OwnMemory own;
  for (const Request& request : requests) {
    result.accounts.push_back(accounts_of(request, base, own));
    result.outputs.push_back(request.output());
  }
  return result;
}

}  // namespace examples::weights_overlay
