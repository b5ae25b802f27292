// SPDX-License-Identifier: BSL-1.0
/// RandomShapes: random axes, sizes and dtypes.
#pragma once

#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>

#include <cstdint>
#include <initializer_list>

#include "support/random.hpp"

namespace byre::test {

class RandomShapes : public Random {
 public:
  using Random::Random;

  std::int64_t number(std::int64_t least, std::int64_t most) { return Random::number(least, most); }
  /// One of an axis, counted from either end; now and then one there is not.
  std::int64_t axis(std::size_t ndim) {
    const auto count = static_cast<std::int64_t>(ndim);
    return chance(2) ? count + 1 : count == 0 ? 0 : number(-count, count - 1);
  }
  Dims axes(std::size_t ndim) {
    Dims all;
    for (std::size_t axis = 0; axis < ndim; ++axis) {
      all.insert(all.begin() + number(0, std::ssize(all)), static_cast<std::int64_t>(axis));
    }
    return all;
  }
  /// Sizes of as many elements.
  Dims sizes_of(std::int64_t numel) {
    Dims sizes;
    for (const std::int64_t factor : {2, 3, 2, 5}) {
      if (numel % factor == 0 && numel > factor && chance(60)) {
        sizes.insert(sizes.begin() + number(0, std::ssize(sizes)), factor);
        numel /= factor;
      }
    }
    sizes.insert(sizes.begin() + number(0, std::ssize(sizes)), chance(20) ? -1 : numel);
    if (chance(15)) {
      sizes.insert(sizes.begin() + number(0, std::ssize(sizes)), 1);
    }
    return sizes;
  }
  DType dtype() {
    return one_of({DType::f32, DType::f32, DType::f64, DType::i64, DType::i32, DType::i16,
                   DType::u8, DType::i8, DType::f16, DType::bf16, DType::complex64,
                   DType::boolean});
  }
};

}  // namespace byre::test
