// SPDX-License-Identifier: BSL-1.0
/// What is claimed of a program: warn mode reports nothing if and only if alias and copy mode compute
/// the same values for every read; and each report, the error or the silence in place of one, and all
/// counts are what the rule says.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "generate.hpp"
#include "program.hpp"
#include "worlds.hpp"

namespace byre::test {

struct Verdict {
  std::string failure{};  ///< what is wrong; empty if nothing is
  bool is_reported = false;
  bool differs = false;
  std::array<std::size_t, reasons> reports{};  ///< how many there are of each reason
  std::array<std::size_t, 4> advice{};         ///< and of each advice
  /// For how many elements that differ in a read there is which account.
  std::array<std::size_t, accounts> accounts_of_reads{};
  std::size_t errors = 0;
  std::size_t silenced = 0;
};

/// Runs the program in every mode. All of its statements are possible.
Verdict check(const Program& program, Flavor flavor);

/// What is possible of the program once what is before it is gone.
Program possible(const Program& program);

/// A program that fails as well, and no longer does with any one statement less.
Program shrunk(Program failing, Flavor flavor);

}  // namespace byre::test
