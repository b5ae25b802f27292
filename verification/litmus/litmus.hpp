// SPDX-License-Identifier: BSL-1.0
/// Litmus tests: what the checker itself sees of C++'s memory model, outcome by outcome, through the
/// adaptor that the code under test runs on. A blind spot that appears, or goes away, is a failure.
#pragma once

#include <string>

#include "../search.hpp"

namespace byre::verification {

/// What C++ says of an outcome, and whether full search sees it.
enum class Fate : std::uint8_t {
  seen,       ///< allowed, and seen
  forbidden,  ///< and not seen
  blind,      ///< allowed, and not seen: something else has to cover it
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

/// Two threads that use one state, each in its way.
template <class State, auto First, auto Second>
struct Two : TwoThreads, State {
  void thread(unsigned index) {
    State& state = *this;
    index == 0 ? First(state) : Second(state);
  }
};
inline constexpr auto nothing = [](auto&) {};
/// Two threads that do the same to one state.
template <class State, auto Each>
using Both = Two<State, Each, Each>;

/// The outcomes that the search under way has seen, by number.
inline std::array<bool, 8> seen{};

/// A test, with its outcome recorded: outcome() is an index into its `outcomes`.
template <class Test>
class Watched : public Test {
 public:
  void after() { seen[this->outcome()] = true; }
};

/// What is not as expected, or nothing. A search that is not full may miss some.
inline std::string surprises(std::span<const Outcome> outcomes, bool is_full) {
  std::string text;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const bool expected = outcomes[i].fate == Fate::seen;
    if (seen[i] != expected && (seen[i] || is_full)) {
      text += text.empty() ? "" : "; ";
      text.append(seen[i] ? "seen: " : "not seen: ").append(outcomes[i].name);
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

/// A test with outcomes passes if they are as it says; one without ends as `expected`.
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
