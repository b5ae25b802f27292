// SPDX-License-Identifier: BSL-1.0
#include "pipeline.hpp"

#include <numeric>

namespace examples::reshape_audit {

Tensor counted(const byre::Dims& sizes) {
  Tensor numbers = Tensor::empty(sizes, DType::f32);
  float* const first = numbers.mutable_data<float>();
  std::iota(first, first + numbers.numel(), 1.0F);
  return numbers;
}

}  // namespace examples::reshape_audit
