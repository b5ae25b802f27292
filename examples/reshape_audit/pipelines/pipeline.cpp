// SPDX-License-Identifier: BSL-1.0
#include "pipeline.hpp"

#include <numeric>
#include <vector>

namespace examples::reshape_audit {

Tensor counted(const byre::Dims& sizes) {
  std::vector<float> numbers(
      static_cast<std::size_t>(byre::contiguous_layout(sizes, "counted").numel()));
  std::iota(numbers.begin(), numbers.end(), 1.0F);
  return Tensor::of<float>(sizes, numbers);
}

}  // namespace examples::reshape_audit
