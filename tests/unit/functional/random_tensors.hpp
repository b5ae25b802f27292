// SPDX-License-Identifier: BSL-1.0
/// Random tensors: small, of any dtype, and whether two are the same.
#pragma once

#include <algorithm>
#include <cstring>

#include "tensors.hpp"

namespace byre::test {

/// Of the same dtype, sizes, and elements bit by bit.
inline bool are_same(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous();
  const Tensor y = b.contiguous();
  return x.dtype() == y.dtype() && x.sizes() == y.sizes() &&
         (x.nbytes() == 0 || std::memcmp(x.raw_data(), y.raw_data(), x.nbytes()) == 0);
}

/// Of small whole elements, for which all sums are exact.
class RandomTensors : public Random {
 public:
  using Random::Random;

  std::int64_t number(std::int64_t least, std::int64_t most) { return Random::number(least, most); }
  /// From 0 on rarely.
  std::int64_t size() { return number(0, 15) == 0 ? 0 : number(1, 4); }
  Dims sizes(std::int64_t least, std::int64_t most) {
    Dims dims(static_cast<std::size_t>(number(least, most)));
    std::generate(dims.begin(), dims.end(), [this] { return size(); });
    return dims;
  }
  DType number_type() {
    return one_of({DType::f32, DType::f32, DType::f64, DType::i64, DType::i16, DType::f16});
  }
  DType any_type() {
    return one_of({DType::boolean, DType::u8, DType::i8, DType::i16, DType::i32, DType::i64,
                   DType::f16, DType::bf16, DType::f32, DType::f64, DType::complex64});
  }
  Tensor elements(const Dims& sizes, DType dtype) {
    std::vector<std::int64_t> numbers(
        static_cast<std::size_t>(byre::detail::element_count(sizes, "random")));
    for (std::int64_t& each : numbers) {
      const bool is_negative = dtype != DType::u8 && flag();
      each = dtype == DType::boolean ? number(0, 1) : is_negative ? number(-9, -1) : number(1, 9);
    }
    Tensor tensor = Tensor::empty(sizes, dtype);
    return copy_(tensor, Tensor::of<std::int64_t>(sizes, numbers));
  }
  /// One that the operator has a meaning for.
  DType type_for(const std::string& name) {
    for (;;) {
      const DType dtype = any_type();
      const bool is_number = dtype != DType::boolean;
      const bool is_ordered = dtype != DType::complex64;
      if ((is_number || (name != "sub" && name != "neg" && name != "relu")) &&
          (is_ordered || (name != "ge" && name != "relu"))) {
        return dtype;
      }
    }
  }

  Argument tensor(const Dims& sizes, DType dtype) {
    return functional::from_cpu(elements(sizes, dtype));
  }
  /// Sizes that broadcast to these.
  Dims broadcastable(const Dims& to) {
    Dims sizes(to.begin() + number(0, std::ssize(to)), to.end());
    for (std::int64_t& each : sizes) {
      each = number(0, 3) == 0 ? 1 : each;
    }
    return sizes;
  }
  std::int64_t axis_of(const Dims& sizes) {
    const std::int64_t ndim = std::ssize(sizes);
    return number(-ndim, ndim - 1);
  }
  static std::int64_t& at(Dims& sizes, std::int64_t axis) {
    return sizes.end()[axis < 0 ? axis : axis - std::ssize(sizes)];
  }
  Dims some_axes_of(const Dims& sizes) {
    Dims axes;
    for (std::int64_t axis = 0; axis < std::ssize(sizes); ++axis) {
      if (flag()) {
        axes.push_back(flag() ? axis : axis - std::ssize(sizes));
      }
    }
    return axes;
  }
};

}  // namespace byre::test
