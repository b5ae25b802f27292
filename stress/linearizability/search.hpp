// SPDX-License-Identifier: BSL-1.0
/// find_order(): whether a history is linearizable, that is, whether its operations could have
/// taken effect one at a time, each between its start and its end, in an order that a sequential
/// specification allows.
///
/// The search is that of J. Wing and C. Gong ("Testing and verifying concurrent objects", 1993): it
/// appends an operation to the order if no other remaining operation ended before its start, and
/// goes back if the specification does not allow its result. As in G. Lowe, "Testing for
/// linearizability" (2017), the search remembers each pair of a set of ordered operations and a
/// state from which it has failed: the order within the set does not matter for the rest.
///
/// A history of several objects is linearizable if the history of each object is (locality: M.
/// Herlihy and J. Wing, 1990), so each object is searched alone.
///
/// A Specification has
///
/// - `State`, a small value type without padding: the state of one object.
/// - `unsigned steps(const Operation&)`: the number of atomic steps in which the operation takes
///   effect. An operation of several steps takes effect in all of them, in order, between its start
///   and its end.
/// - `bool apply(State&, const Operation&, unsigned step)`: changes the state as this step of the
///   operation does. False if the step is not possible, or has another result, in this state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "history.hpp"

namespace byre::stress::histories {

struct Verdict {
  bool is_linearizable = true;
  std::uint8_t object = 0;
  /// The longest order that the search found: indices of operations of the history, each as often
  /// as it has steps.
  std::vector<std::size_t> order;
  std::uint64_t visited = 0;  ///< pairs of a set and a state
};

template <class Specification>
class Search {
 public:
  using State = typename Specification::State;

  static constexpr std::size_t most_steps = 64;

  /// Searches the operations of `object`.
  Search(const Specification& specification, const std::vector<Operation>& history,
         std::uint8_t object)
      : specification_(specification) {
    verdict_.object = object;
    for (std::size_t at = 0; at < history.size(); ++at) {
      if (history[at].object == object) {
        for (unsigned step = 0; step < specification.steps(history[at]); ++step) {
          steps_.push_back({&history[at], at, step, 0});
        }
      }
    }
    if (steps_.size() > most_steps) {
      throw std::invalid_argument("cannot check a history of " + std::to_string(steps_.size()) +
                                  " steps, allowed 64");
    }
    // Near the likely order, so that a linearizable history rarely makes the search go back.
    std::stable_sort(steps_.begin(), steps_.end(), [](const Step& left, const Step& right) {
      return left.operation->end < right.operation->end;
    });
    for (Step& step : steps_) {
      for (std::size_t at = 0; at < steps_.size(); ++at) {
        const Step& other = steps_[at];
        if (other.operation->end < step.operation->start ||
            (other.operation == step.operation && other.number < step.number)) {
          step.predecessors |= bit(at);
        }
      }
    }
  }

  Verdict run(const State& initial) {
    verdict_.is_linearizable = extend(0, initial);
    return verdict_;
  }

 private:
  using Set = std::uint64_t;  // of steps

  struct Step {
    const Operation* operation;
    std::size_t index;  // of the operation, in the history
    unsigned number;    // of the step, in the operation
    Set predecessors;   // steps that took effect earlier
  };

  struct Failed {
    Set done;
    State state;
    friend bool operator==(const Failed&, const Failed&) = default;
  };
  static_assert(std::has_unique_object_representations_v<State>);

  struct Hash {
    std::size_t operator()(const Failed& failed) const noexcept {
      std::uint64_t hash = failed.done;
      unsigned char bytes[sizeof(State)];
      std::memcpy(bytes, &failed.state, sizeof bytes);
      for (const unsigned char byte : bytes) {
        hash = (hash ^ byte) * 0x9E37'79B9'7F4A'7C15;
      }
      return static_cast<std::size_t>(hash ^ hash >> 32);
    }
  };

  static constexpr Set bit(std::size_t at) noexcept { return Set{1} << at; }

  /// Whether the rest of the steps can follow the steps `done`, which led to `state`.
  bool extend(Set done, const State& state) {
    if (path_.size() > verdict_.order.size()) {
      verdict_.order = path_;
    }
    if (path_.size() == steps_.size()) {
      return true;
    }
    if (failed_.contains({done, state})) {
      return false;
    }
    ++verdict_.visited;
    for (std::size_t at = 0; at < steps_.size(); ++at) {
      const Step& step = steps_[at];
      State next = state;
      if ((done & bit(at)) == 0 && (step.predecessors & ~done) == 0 &&
          specification_.apply(next, *step.operation, step.number)) {
        path_.push_back(step.index);
        if (extend(done | bit(at), next)) {
          return true;
        }
        path_.pop_back();
      }
    }
    failed_.insert({done, state});
    return false;
  }

  const Specification& specification_;
  std::vector<Step> steps_;
  std::vector<std::size_t> path_;
  std::unordered_set<Failed, Hash> failed_;
  Verdict verdict_;
};

/// The verdict on the operations of one object, which was in the state `initial`.
template <class Specification>
Verdict find_order(const Specification& specification, const std::vector<Operation>& history,
                   const typename Specification::State& initial, std::uint8_t object = 0) {
  return Search<Specification>(specification, history, object).run(initial);
}

}  // namespace byre::stress::histories
