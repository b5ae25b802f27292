// SPDX-License-Identifier: BSL-1.0
/// Litmus tests state which outcomes of C++'s memory model the checker finds. They use `Checked`,
/// the checker's atomics, locks and waits, on which the code under test runs too. A blind spot is
/// an outcome that C++ allows and the checker does not find. A blind spot that appears or
/// disappears fails the run.
#pragma once

#include <string>

#include "../search.hpp"

namespace byre::verification {

/// Whether C++ allows an outcome, and whether a full search finds it.
enum class Fate : std::uint8_t {
  seen,       ///< allowed and found
  forbidden,  ///< forbidden and not found
  blind,      ///< allowed but not found: another check has to cover it
};

struct Outcome {
  std::string_view name;
  Fate fate;
};

namespace litmus {

using Number = Checked::Atomic<std::uint32_t>;

constexpr sync::Step at(std::memory_order order = seq_cst) noexcept {
  return step_of<"litmus">(order);
}

/// Two threads that run `First` and `Second` on one state.
template <class State, auto First, auto Second>
struct Two : TwoThreads, State {
  void thread(unsigned index) {
    State& state = *this;
    index == 0 ? First(state) : Second(state);
  }
};
inline constexpr auto nothing = [](auto&) {};
/// Two threads that both run `Each` on one state.
template <class State, auto Each>
using Both = Two<State, Each, Each>;

/// True at the index of each outcome that the current search has found.
inline std::array<bool, 8> seen{};

/// Records the outcome of each execution of `Test`. outcome() returns an index into
/// `Test::outcomes`.
template <class Test>
class Watched : public Test {
 public:
  void after() { seen[this->outcome()] = true; }
};

/// A text that lists the unexpected outcomes; empty if all are as expected. A bounded search may
/// miss allowed outcomes.
inline std::string surprises(std::span<const Outcome> outcomes, bool is_full) {
  std::string text;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const bool expected = outcomes[i].fate == Fate::seen;
    if (seen[i] != expected && (seen[i] || is_full)) {
      text += text.empty() ? "" : "; ";
      text.append(seen[i] ? "found: " : "not found: ").append(outcomes[i].name);
    }
  }
  return text;
}

template <class Test>
SearchResult search(const Search& search) {
  if constexpr (requires { Test::outcomes; }) {
    seen = {};
    SearchResult found = detail::search_body<Watched<Test>>(search);
    if (found.verdict == Verdict::pass) {
      found.message = surprises(Test::outcomes, search.bound.is_full());
      if (!found.message.empty()) {
        found.verdict = Verdict::checker_error;
      }
    }
    return found;
  } else {
    return detail::search_body<Test>(search);
  }
}

}  // namespace litmus

/// Registers a litmus test. If `Test` has a member `outcomes`, the test passes if the search finds
/// exactly the expected outcomes. Otherwise the search has to end with the verdict `expected`.
template <class Test>
const Scenario* litmus_test(std::string_view name, std::string_view shows,
                            Verdict expected = Verdict::pass) {
  return &register_scenario({.name = name,
                             .shows = shows,
                             .threads = Test::threads,
                             .expected = expected,
                             .cover = {},
                             .search = &litmus::search<Test>});
}

}  // namespace byre::verification
