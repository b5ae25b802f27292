// SPDX-License-Identifier: BSL-1.0
/// NamedTensors: names and tensors of a file of several tensors, in the order of the file.
#pragma once

#include <byre/tensor/tensor.hpp>

#include <string>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

}  // namespace byre::inline BYRE_ABI
