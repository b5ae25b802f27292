// SPDX-License-Identifier: BSL-1.0
#include "search.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <ostream>
#include <utility>

namespace byre::verification {
namespace {

using Clock = std::chrono::steady_clock;

/// The search that is running. A process runs one search at a time.
struct Progress {
  const Search* search = nullptr;
  Clock::time_point begun;
  std::uint64_t executions = 0;
  Verdict own_verdict = Verdict::pass;
  std::array<char, 256> message{};
  std::array<std::string_view, 32> covered{};
  std::size_t covered_count = 0;
};
Progress progress;

std::ostream& null_stream() {
  static std::ostream stream(nullptr);
  return stream;
}

constexpr std::pair<rl::test_result_e, Verdict> verdicts[] = {
    {rl::test_result_success, Verdict::pass},
    {rl::test_result_until_condition_hit, Verdict::unknown},
    {rl::test_result_data_race, Verdict::data_race},
    {rl::test_result_access_to_freed_memory, Verdict::use_after_free},
    {rl::test_result_usage_of_non_initialized_mutex, Verdict::use_after_free},
    {rl::test_result_double_free, Verdict::double_free},
    {rl::test_result_memory_leak, Verdict::leak},
    {rl::test_result_resource_leak, Verdict::leak},
    {rl::test_result_unitialized_access, Verdict::uninitialized},
    {rl::test_result_deadlock, Verdict::deadlock},
    {rl::test_result_livelock, Verdict::livelock},
    {rl::test_result_recursion_on_nonrecursive_mutex, Verdict::misused_lock},
    {rl::test_result_unlocking_mutex_wo_ownership, Verdict::misused_lock},
    {rl::test_result_destroying_owned_mutex, Verdict::misused_lock},
    {rl::test_result_double_initialization_of_mutex, Verdict::misused_lock},
    {rl::test_result_mutex_write_to_read_upgrade, Verdict::misused_lock},
    {rl::test_result_mutex_read_to_write_upgrade, Verdict::misused_lock},
};

Verdict verdict_of(rl::test_result_e result) {
  const auto* const found =
      std::ranges::find(verdicts, result, &std::pair<rl::test_result_e, Verdict>::first);
  return found == std::end(verdicts) ? Verdict::checker_error : found->second;
}

/// An execution takes about 60 steps. An execution of more steps than this limit is a livelock.
constexpr unsigned most_steps = 1000;
constexpr std::uint64_t executions_between_looks = 4096;

std::map<std::string_view, Scenario>& scenarios() {
  static std::map<std::string_view, Scenario> all;
  return all;
}

}  // namespace

const Scenario& register_scenario(const Scenario& scenario) {
  const auto [at, is_new] = scenarios().try_emplace(scenario.name, scenario);
  if (!is_new) {
    std::fprintf(stderr, "two scenarios are named %s\n", std::string(scenario.name).c_str());
    std::abort();
  }
  return at->second;
}

std::vector<const Scenario*> all_scenarios() {
  std::vector<const Scenario*> all;
  for (const auto& [name, scenario] : scenarios()) {
    all.push_back(&scenario);
  }
  return all;
}

void fail(Verdict verdict, const char* text) noexcept {
  progress.own_verdict = verdict;
  std::snprintf(progress.message.data(), progress.message.size(), "%s", text);
  rl::ctx().fail_test("", rl::test_result_user_assert_failed, {});
  std::abort();  // not reached: fail_test() does not return
}

void cover(std::string_view state) noexcept {
  if (!is_covered(state) && progress.covered_count < progress.covered.size()) {
    progress.covered[progress.covered_count++] = state;
  }
}

bool is_covered(std::string_view state) noexcept {
  for (std::size_t i = 0; i < progress.covered_count; ++i) {
    if (progress.covered[i] == state) {
      return true;
    }
  }
  return false;
}

namespace detail {
namespace {

rl::test_params begin_search(const Search& search) {
  progress.search = &search;
  progress.begun = Clock::now();
  progress.executions = 0;
  progress.own_verdict = Verdict::pass;
  progress.message = {};
  // A failed execution of an earlier search may have left 1 here, since it skips destructors.
  Checked::spin_limit = 0;
  rl::test_params params;
  params.output_stream = &null_stream();
  params.progress_stream = &null_stream();
  params.search_type = search.bound.is_full() ? rl::sched_full : rl::sched_bound;
  params.context_bound = search.bound.preemptions;
  params.execution_depth_limit = most_steps;
  params.initial_state = search.state.c_str();
  return params;
}

/// Runs before every execution. Ends the search if it has reached a limit.
void begin_execution() {
  const Search& search = *progress.search;
  bool ends = progress.executions >= search.most_executions;
  if (progress.executions % executions_between_looks == 0 && progress.executions != 0) {
    ends = ends || Clock::now() - progress.begun > search.longest;
  }
  if (ends) {
    rl::ctx().rl_until("limit", {});
  }
  ++progress.executions;
}

SearchResult finish_search(rl::test_result_e result, const rl::ostringstream& state) {
  SearchResult found;
  found.verdict =
      result == rl::test_result_user_assert_failed ? progress.own_verdict : verdict_of(result);
  found.message = progress.message.data();
  found.executions = progress.executions;
  found.seconds = std::chrono::duration<double>(Clock::now() - progress.begun).count();
  found.state = state.str().c_str();
  return found;
}

/// Reports an exception that a thread does not catch. Relacy does not detect such exceptions.
void fail_on_exception() noexcept {
  try {
    throw;
  } catch (const std::exception& exception) {
    std::array<char, 200> text;
    std::snprintf(text.data(), text.size(), "uncaught exception in a thread: %s", exception.what());
    fail(Verdict::wrong_answer, text.data());
  } catch (...) {
    fail(Verdict::wrong_answer, "uncaught exception in a thread");
  }
}

/// The body of the search that is running.
const BodyType* current_body = nullptr;

/// One execution of the current body.
template <unsigned Threads>
class Suite : public rl::test_suite<Suite<Threads>, static_cast<rl::thread_id_t>(Threads)> {
 public:
  Suite() {
    current_body->construct(room_.data());
    if (current_body->on_step != nullptr) {
      environment_.execution.observer = {room_.data(), current_body->on_step};
    }
  }
  ~Suite() { current_body->destroy(room_.data()); }

  void thread(unsigned index) {
    ExceptionStateGuard::forget();
    trace.set_threads_running(true);
    try {
      current_body->thread(room_.data(), index);
    } catch (...) {
      fail_on_exception();
    }
  }

  void after() {
    ExceptionStateGuard::forget();
    trace.set_threads_running(false);
    current_body->after(room_.data());
  }

 private:
  struct Environment {
    Environment() {
      ExceptionStateGuard::forget();
      trace.set_threads_running(false);
      begin_execution();
    }
    Execution execution;
  };

  Environment environment_;
  alignas(std::max_align_t) std::array<std::byte, most_body_nbytes> room_;
};

template <unsigned Threads, template <rl::thread_id_t> class Scheduler>
SearchResult search_with(const Search& search) {
  rl::test_params params = begin_search(search);
  rl::ostringstream state;
  const auto result =
      rl::run_test<Suite<Threads>, Scheduler<static_cast<rl::thread_id_t>(Threads)>>(params, state,
                                                                                     false);
  return finish_search(result, state);
}

template <unsigned Threads>
SearchResult search_threads(const Search& search) {
  if (search.bound.is_reduced()) {
    return search_with<Threads, SleepSetScheduler>(search);
  }
  return search.bound.is_full() ? search_with<Threads, rl::full_search_scheduler>(search)
                                : search_with<Threads, rl::context_bound_scheduler>(search);
}

}  // namespace

SearchResult search_body(const BodyType& type, const Search& search) {
  current_body = &type;
  switch (type.threads) {
    case 2:
      return search_threads<2>(search);
    case 3:
      return search_threads<3>(search);
    case 4:
      return search_threads<4>(search);
    default:
      return {.verdict = Verdict::checker_error,
              .message = "unsupported number of threads: " + std::to_string(type.threads) +
                         ", required 2, 3 or 4"};
  }
}

}  // namespace detail
}  // namespace byre::verification
