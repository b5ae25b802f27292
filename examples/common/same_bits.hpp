// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <byre/tensor/tensor.hpp>

#include <cstring>

namespace examples {

/// True if sizes, dtypes and elements are equal, bit for bit.
inline bool are_same_bits(const byre::Tensor& left, const byre::Tensor& right) {
  const byre::Tensor one = left.contiguous();
  const byre::Tensor other = right.contiguous();
  return one.sizes() == other.sizes() && one.dtype() == other.dtype() &&
         (one.nbytes() == 0 || std::memcmp(one.raw_data(), other.raw_data(), one.nbytes()) == 0);
}

}  // namespace examples
