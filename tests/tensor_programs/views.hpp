// SPDX-License-Identifier: BSL-1.0
/// Views by the members of Tensor, where operators make them by rules of layouts.
#pragma once

#include <byre/tensor/tensor.hpp>

#include <vector>

#include "program.hpp"

namespace byre::test {

/// All arguments behind the first one, with the defaults of the schema.
functional::Arguments constants_of(const Step& step);

bool is_view(const Step& step);

/// The views that `step` makes of its first tensor, which is `self`. Throws what Tensor throws.
std::vector<Tensor> views_of(const Tensor& self, const Step& step);

}  // namespace byre::test
