// SPDX-License-Identifier: BSL-1.0
/// Mutants that no scenario can notice, each with the argument why it does what the code does. An
/// argument for a mutant that is killed, or that does not exist, fails the run.
#pragma once

#include <string_view>

namespace byre::verification {

struct Equivalent {
  std::string_view mutant;
  std::string_view because;
};

inline constexpr Equivalent equivalents[] = {
    {"share_word.park:left-out", "?"},
};

}  // namespace byre::verification
