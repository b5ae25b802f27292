// SPDX-License-Identifier: BSL-1.0
/// Tensors that a watched reshape linked, and what is reported of them.
#pragma once

#include <byre/shadow/mode.hpp>
#include <byre/shadow/suppression.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "../shadow/tracked.hpp"

namespace byre::test {

using shadow::ReshapeModeScope;

/// A line of a program that there is not.
inline CallSite line(std::uint32_t number) {
  return {model_file, number};
}

/// What a reshape in `mode` makes, at line 10.
inline Tensor reshaped(const Tensor& tensor, const Dims& sizes,
                       ReshapeMode mode = ReshapeMode::warn) {
  const ReshapeModeScope scope(mode);
  return tensor.reshape(sizes, line(10));
}

inline std::vector<float> values_of(const Tensor& tensor) {
  const shadow::ScopedSuppression suppression;
  const Tensor copied = tensor.clone();
  const auto count = static_cast<std::size_t>(copied.numel());
  return count == 0 ? std::vector<float>()
                    : std::vector<float>(copied.data<float>(), copied.data<float>() + count);
}

/// Six elements, 1 to 6, and their reshape to [2, 3] at line 10.
class WatchedTensors : public testing::Test {
 protected:
  /// How many violations there were, told or thrown.
  static std::uint64_t violations() { return shadow::summary().violations; }

  CaughtReports reports;
  Tensor x = Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6});
  Tensor y = reshaped(x, {2, 3});
};

}  // namespace byre::test
