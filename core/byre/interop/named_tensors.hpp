// SPDX-License-Identifier: BSL-1.0
/// NamedTensors: what files of several tensors hold, with the order that they have there.
#pragma once

#include <byre/tensor/tensor.hpp>

#include <string>
#include <utility>
#include <vector>

namespace byre::inline v0 {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

}  // namespace byre::inline v0
