// SPDX-License-Identifier: BSL-1.0
/// Every view, and every operation that writes, with arguments that say something.
#pragma once

#include "program.hpp"

namespace byre::test {

/// A call whose tensors are told by what they are for.
struct Sample {
  std::string op;
  std::vector<StepArgument> arguments;
};

/// What the tensors of a Sample are.
inline constexpr Ref the_base{1, 0};
inline constexpr Ref the_view{2, 0};
inline constexpr Ref other_view{3, 0};
inline constexpr Ref operand{4, 0};    ///< of the view's sizes, and of its dtype
inline constexpr Ref condition{5, 0};  ///< of the view's sizes, bools

/// Of the_base.
const std::vector<Sample>& every_view();

/// To the_view, or to the_base.
const std::vector<Sample>& every_write();

}  // namespace byre::test
