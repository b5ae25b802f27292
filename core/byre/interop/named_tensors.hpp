// SPDX-License-Identifier: BSL-1.0
/// Tensors with names, as files of several have them. In the order of the file, which a map would lose.
#pragma once

#include <byre/tensor/tensor.hpp>

#include <string>
#include <utility>
#include <vector>

namespace byre::inline v0 {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

}  // namespace byre::inline v0
