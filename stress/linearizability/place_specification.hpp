// SPDX-License-Identifier: BSL-1.0
/// The specification of an AtomicBuffer or AtomicStorage. Its state is a number, which the content
/// has in its bytes, and the number of stores.
///
/// In a history, equal numbers mean shared data: each new data has a new number. Borrowed memory is
/// copied by a load, so such a copy has the number of the content, but is not equal to it.
#pragma once

#include <cstdint>

#include "history.hpp"

namespace byre::stress::histories {

struct PlaceSpecification {
  enum Kind : std::uint8_t {
    load,              ///< result: the number of the content
    store,             ///< argument: the number that is stored
    exchange,          ///< as store; result: the former number
    compare_exchange,  ///< as store; other_argument: the expected number; result: whether it
                       ///< replaced the content; other_result: the number that was found
    holds,             ///< argument: the number of a value; result: whether the content is equal
    version,           ///< result: the version
  };
  /// The number of an empty value.
  static constexpr std::uint8_t empty = 0;
  /// The argument for a value that shares its data with no content, such as a copy of borrowed
  /// memory.
  static constexpr std::uint8_t unshared = 0xFF;

  struct State {
    std::uint8_t content = empty;
    std::uint8_t version = 0;
    friend bool operator==(const State&, const State&) = default;
  };

  /// A store first replaces the content, and counts itself in a second step: in between, another
  /// thread may load the stored value and still read the former version.
  static unsigned steps(const Operation& operation) noexcept { return replaces(operation) ? 2 : 1; }

  static bool apply(State& state, const Operation& operation, unsigned step) noexcept {
    if (step == 1) {
      ++state.version;
      return true;
    }
    switch (operation.kind) {
      case load:
        return operation.result == state.content;
      case store:
        state.content = operation.argument;
        return true;
      case exchange: {
        const bool is_possible = operation.result == state.content;
        state.content = operation.argument;
        return is_possible;
      }
      case compare_exchange: {
        const bool is_equal = operation.other_argument == state.content;
        const std::uint8_t found = state.content;
        if (is_equal) {
          state.content = operation.argument;
        }
        return is_equal == (operation.result != 0) && (is_equal || operation.other_result == found);
      }
      case holds:
        return (operation.argument == state.content) == (operation.result != 0);
      case version:
        return operation.result == state.version;
      default:
        return false;
    }
  }

 private:
  static bool replaces(const Operation& operation) noexcept {
    return operation.kind == store || operation.kind == exchange ||
           (operation.kind == compare_exchange && operation.result != 0);
  }
};

}  // namespace byre::stress::histories
