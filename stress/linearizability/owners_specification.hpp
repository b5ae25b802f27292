// SPDX-License-Identifier: BSL-1.0
/// The specification of values that share data: buffers, or storages. Each value is a variable.
/// Variable 0 is shared by all threads, or empty; each of the others belongs to one thread.
///
/// The state says of each variable its number (which is in its bytes) and its data. A write of data
/// with several owners gives up its ownership in a first step, and copies until a second step. So
/// of N owners that write, exactly N-1 copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "history.hpp"

namespace byre::stress::histories {

struct OwnersSpecification {
  enum Kind : std::uint8_t {
    read,       ///< argument: a variable; result: its number
    clone,      ///< argument: a variable; other_argument: an empty variable, which becomes a clone
    drop,       ///< argument: a variable, which becomes empty
    is_unique,  ///< argument: a variable; result: whether its data has no other owner or copier
    write,      ///< argument: a variable; other_argument: its new number; result: a Write
  };
  enum Write : std::uint8_t { already_unique, stole, copied };

  static constexpr std::size_t variables = 9;

  /// Data is identified by a number; 0 is no data.
  struct State {
    std::array<std::uint8_t, variables> number{};
    std::array<std::uint8_t, variables> data{};
    std::array<std::uint8_t, variables> copied_data{};  ///< by a write of the variable
    friend bool operator==(const State&, const State&) = default;
  };

  /// Variables that share data with the number 1.
  template <class... Variables>
  static State sharing(Variables... variable) {
    State state;
    ((state.number[variable] = state.data[variable] = 1), ...);
    return state;
  }

  static unsigned steps(const Operation& operation) noexcept {
    return operation.kind == write && operation.result != already_unique ? 2 : 1;
  }

  static bool apply(State& state, const Operation& operation, unsigned step) noexcept {
    const std::size_t variable = operation.argument;
    switch (operation.kind) {
      case read:
        return operation.result == state.number[variable];
      case clone:
        state.number[operation.other_argument] = state.number[variable];
        state.data[operation.other_argument] = state.data[variable];
        return true;
      case drop:
        state.number[variable] = state.data[variable] = 0;
        return true;
      case is_unique:
        return is_sole_use(state, variable) == (operation.result != 0);
      case write:
        return apply_write(state, operation, step);
      default:
        return false;
    }
  }

 private:
  static bool apply_write(State& state, const Operation& operation, unsigned step) noexcept {
    const std::size_t variable = operation.argument;
    const std::uint8_t data = state.data[variable];
    if (operation.result == copied && step == 0) {
      state.data[variable] = 0;
      state.copied_data[variable] = data;
      return owners(state, data) != 0;
    }
    if (operation.result == copied) {
      state.copied_data[variable] = 0;
      state.data[variable] = operation.other_argument;  // a number that no other write has
    } else if (operation.result == stole && step == 0) {
      return !is_sole_use(state, variable);  // it then waits until it is the sole use
    } else if (!is_sole_use(state, variable)) {
      return false;
    }
    state.number[variable] = operation.other_argument;
    return true;
  }

  static bool is_sole_use(const State& state, std::size_t variable) noexcept {
    const std::uint8_t data = state.data[variable];
    return owners(state, data) == 1 && copiers(state, data) == 0;
  }
  static std::size_t owners(const State& state, std::uint8_t data) noexcept {
    return count(state.data, data);
  }
  static std::size_t copiers(const State& state, std::uint8_t data) noexcept {
    return count(state.copied_data, data);
  }
  static std::size_t count(const std::array<std::uint8_t, variables>& all,
                           std::uint8_t data) noexcept {
    std::size_t count = 0;
    for (const std::uint8_t each : all) {
      count += each == data ? 1 : 0;
    }
    return count;
  }
};

}  // namespace byre::stress::histories
