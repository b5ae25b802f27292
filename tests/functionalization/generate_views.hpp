// SPDX-License-Identifier: BSL-1.0
/// Random arguments for every view that there is.
#pragma once

#include "program.hpp"
#include "random_shapes.hpp"

namespace byre::test {

/// Of those of the library and of the tests.
const std::vector<std::string>& views();

/// What stands behind the tensor in a call of the view, of one such as `self`; mostly what it
/// takes.
std::vector<StepArgument> constants_of_view(const std::string& name, RandomShapes& random,
                                            const Tensor& self);

}  // namespace byre::test
