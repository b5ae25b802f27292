// SPDX-License-Identifier: BSL-1.0
/// Type promotion: the dtype that two operands make, and how often what is computed of them is rounded.
///
///   bool < integral < floating < complex: the higher category wins, whatever the widths;
///   within a category the wider wins, and
///   u8 with i8 makes i16, f16 with bf16 makes f32: neither holds the other's values.
///
/// So i64 with f16 makes f16, and f64 with complex64 makes complex64. Source: PyTorch's categories.
///
/// Operands are converted to the promoted dtype, but to float where that is f16 or bf16, which no operand
/// is rounded to. The result is rounded, once, to its dtype: 2346 of f16 and 5003 of i16, which f16 has
/// not, make 7349, and so the f16 7348. A number beside a tensor is of a dtype too, Scalar::operand_dtype,
/// and rounded to that first: 2346 of f16 and the number 5003, there 5004, make 7350, and so 7352.
#pragma once

#include <byre/tensor/dtype.hpp>

#include <cstdint>

namespace byre::inline v0 {

enum class Category : std::uint8_t { boolean, integral, floating, complex };

/// `dtype` is not DType::uninitialized, here and below.
constexpr Category category_of(DType dtype) noexcept {
  return dtype == DType::boolean ? Category::boolean
         : is_integral(dtype)    ? Category::integral
         : is_floating(dtype)    ? Category::floating
                                 : Category::complex;
}

constexpr DType promoted(DType a, DType b) noexcept {
  if (category_of(a) != category_of(b)) {
    return category_of(a) > category_of(b) ? a : b;
  }
  if (itemsize(a) != itemsize(b)) {
    return itemsize(a) > itemsize(b) ? a : b;
  }
  return a == b ? a : is_integral(a) ? DType::i16 : DType::f32;
}

/// What an operation computes in whose results are no integers, such as exp and a true division.
constexpr DType promoted_to_floating(DType dtype) noexcept {
  return category_of(dtype) < Category::floating ? DType::f32 : dtype;
}

}  // namespace byre::inline v0
