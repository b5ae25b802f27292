// SPDX-License-Identifier: BSL-1.0
#include "steps.hpp"

namespace byre::test {

Tensor Steps::reshape(std::uint32_t step, const Tensor& tensor, const Dims& sizes) {
  reshapes_.insert(step);
  if (changes_.rewritten) {
    return *changes_.rewritten == shadow::ReshapeMode::alias
               ? tensor.view(sizes)
               : tensor.reshape(sizes, at(step)).clone(at(step));
  }
  std::optional<shadow::ReshapeModeScope> scope;
  if (step == changes_.reshape) {
    scope.emplace(shadow::ReshapeMode::copy);
  }
  return tensor.reshape(sizes, at(step));
}

void Steps::reshape_(std::uint32_t step, Tensor& tensor, const Dims& sizes) {
  reshapes_.insert(step);
  if (changes_.rewritten) {
    tensor = reshape(step, tensor, sizes);
    return;
  }
  std::optional<shadow::ReshapeModeScope> scope;
  if (step == changes_.reshape) {
    scope.emplace(shadow::ReshapeMode::copy);
  }
  tensor.reshape_(sizes, at(step));
}

Tensor& Steps::written(std::uint32_t step, Tensor& tensor) {
  return step == changes_.write ? clones_.emplace_back(tensor.clone()) : tensor;
}

void Steps::see(std::uint32_t step, const Tensor& tensor) {
  Tensor numbers = Tensor::empty(tensor.sizes(), DType::f64);
  copy_(numbers, tensor, at(step));
  const double* const first = numbers.data<double>();
  seen_.push_back({step, {first, first + numbers.numel()}});
}

}  // namespace byre::test
