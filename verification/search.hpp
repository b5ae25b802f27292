// SPDX-License-Identifier: BSL-1.0
/// Makes a Scenario from a body. A body is a class that is constructed anew for each execution:
/// - its constructor sets up the state;
/// - `threads` is the number of threads;
/// - thread(i) is the code of thread i;
/// - after(), optional, is the oracle;
/// - on_step(site, value), optional, is called at every synchronizing step, with the value that the
///   step read or stored, or 0 if the step is a lock, an unlock, a wait or a wake.
#pragma once

#include <cstddef>
#include <new>

#include "relacy/checked.hpp"
#include "relacy/tracked.hpp"
#include "scenario.hpp"
#include "step_of.hpp"

namespace byre::verification {

/// Fails the execution with Verdict::wrong_answer if `condition` is false. `expectation` states
/// what should hold.
inline void expect(bool condition, const char* expectation) noexcept {
  if (!condition) {
    fail(Verdict::wrong_answer, expectation);
  }
}

/// The thread whose step is being executed.
inline unsigned current_thread() noexcept {
  return static_cast<unsigned>(rl::ctx().current_thread());
}

/// Base class for bodies with two threads.
struct TwoThreads {
  static constexpr unsigned threads = 2;
};

namespace detail {

/// A body with its type erased, so that the checker is instantiated once for each number of
/// threads, not once for each body.
struct BodyType {
  unsigned threads;
  void (*construct)(void* place);
  void (*destroy)(void* body);
  void (*thread)(void* body, unsigned index);
  void (*after)(void* body);
  void (*on_step)(void* body, const sync::Site& site, std::uint64_t value);  ///< may be null
};

/// The size of the buffer that a body is constructed in.
inline constexpr std::size_t most_body_nbytes = 8192;

template <class Body>
constexpr BodyType body_type() {
  static_assert(sizeof(Body) <= most_body_nbytes && alignof(Body) <= alignof(std::max_align_t));
  BodyType type{
      .threads = Body::threads,
      .construct = [](void* place) { ::new (place) Body; },
      .destroy = [](void* body) { static_cast<Body*>(body)->~Body(); },
      .thread = [](void* body, unsigned index) { static_cast<Body*>(body)->thread(index); },
      .after = [](void*) {},
      .on_step = nullptr};
  if constexpr (requires(Body & body) { body.after(); }) {
    type.after = [](void* body) { static_cast<Body*>(body)->after(); };
  }
  if constexpr (requires(Body & body, const sync::Site& site) { body.on_step(site, 0); }) {
    type.on_step = [](void* body, const sync::Site& site, std::uint64_t value) {
      static_cast<Body*>(body)->on_step(site, value);
    };
  }
  return type;
}

SearchResult search_body(const BodyType& type, const Search& search);

template <class Body>
SearchResult search_body(const Search& search) {
  static constexpr BodyType type = body_type<Body>();
  return search_body(type, search);
}

}  // namespace detail

/// `Body` with the cover points `States` in place of those of `Body`.
template <class Body, StepName... States>
struct WithCoverPoints : Body {
  static constexpr std::array<std::string_view, sizeof...(States)> cover_points{States.text...};
};

/// Registers the scenario of a body. `quick` is the bound of the quick run, `deep` the bound of the
/// deep run: full_search, reduced_search, or a number of preemptions.
template <class Body>
const Scenario* scenario(std::string_view name, std::string_view shows, Bound quick = full_search,
                         Bound deep = full_search, Verdict expected = Verdict::pass) {
  std::span<const std::string_view> cover;
  if constexpr (requires { Body::cover_points; }) {
    cover = Body::cover_points;
  }
  return &register_scenario(
      {name, shows, Body::threads, quick, deep, expected, cover, &detail::search_body<Body>});
}

/// Registers the scenario of a known-wrong design, whose search has to end with the verdict
/// `expected`.
template <class Body>
const Scenario* known_wrong(std::string_view name, std::string_view shows, Verdict expected,
                            Bound bound = full_search) {
  return scenario<Body>(name, shows, bound, bound, expected);
}

}  // namespace byre::verification
