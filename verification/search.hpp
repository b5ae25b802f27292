// SPDX-License-Identifier: BSL-1.0
/// From the body of a scenario to a Scenario. A body is a class that is made anew for each
/// execution: its constructor sets up, thread(i) is what thread i does, after() the oracle, and
/// `threads` how many there are. Optionally saw(site, value) is told of every step.
#pragma once

#include "relacy/checked.hpp"
#include "relacy/mapped_cells.hpp"
#include "relacy/tracked.hpp"
#include "scenario.hpp"

namespace byre::verification {

/// The oracle: ends the search unless `condition`, with what was expected instead.
inline void expect(bool condition, const char* expectation) noexcept {
  if (!condition) {
    fail(Verdict::wrong_answer, expectation);
  }
}

/// The thread of the scenario that takes the step under way.
inline unsigned current_thread() noexcept {
  return static_cast<unsigned>(rl::ctx().current_thread());
}

namespace detail {

/// The search under way, of which there is one in a process.
class CurrentSearch {
 public:
  explicit CurrentSearch(const Search& search);
  /// Before every execution: ends the search where its limits say so.
  static void begin_execution();
  Found finish(rl::test_result_e result, const rl::ostringstream& state);

  rl::test_params params;
};

/// For failures that Relacy does not see itself.
void fail_on_exception() noexcept;

template <class Body>
class Suite : public rl::test_suite<Suite<Body>, static_cast<rl::thread_id_t>(Body::threads)> {
 public:
  Suite() {
    if constexpr (requires(Body & body, const sync::Site& site) { body.saw(site, 0); }) {
      environment_.execution.observer = {
          &body_, [](void* body, const sync::Site& site, std::uint64_t value) {
            static_cast<Body*>(body)->saw(site, value);
          }};
    }
  }

  void thread(unsigned index) {
    KeepsExceptions::forget();
    trace.set_threads_running(true);
    try {
      body_.thread(index);
      environment_.execution.held.finish();
    } catch (...) {
      fail_on_exception();
    }
  }

  void after() {
    KeepsExceptions::forget();
    trace.set_threads_running(false);
    if constexpr (requires { body_.after(); }) {
      body_.after();
    }
  }

 private:
  struct Environment {
    Environment() {
      KeepsExceptions::forget();
      trace.set_threads_running(false);
      CurrentSearch::begin_execution();
    }
    Execution execution;
  };

  Environment environment_;
  Body body_;
};

template <class Body, template <rl::thread_id_t> class Scheduler>
Found search_with(const Search& search) {
  CurrentSearch current(search);
  rl::ostringstream state;
  const auto result =
      rl::run_test<Suite<Body>, Scheduler<static_cast<rl::thread_id_t>(Body::threads)>>(
          current.params, state, false);
  return current.finish(result, state);
}

template <class Body>
Found search_body(const Search& search) {
  if (search.bound.is_reduced()) {
    return search_with<Body, SleepSetScheduler>(search);
  }
  return search.bound.is_full() ? search_with<Body, rl::full_search_scheduler>(search)
                                : search_with<Body, rl::context_bound_scheduler>(search);
}

}  // namespace detail

/// What a scenario says of itself.
struct Description {
  std::string_view name;
  std::string_view shows;
  Bound quick = full_search;
  Bound deep = full_search;
  Verdict expected = Verdict::pass;
};

template <class Body>
Scenario scenario(const Description& description) {
  std::span<const std::string_view> cover;
  if constexpr (requires { Body::cover_points; }) {
    cover = Body::cover_points;
  }
  return {description.name, description.shows,    Body::threads, description.quick,
          description.deep, description.expected, cover,         &detail::search_body<Body>};
}

}  // namespace byre::verification
