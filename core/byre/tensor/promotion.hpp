// SPDX-License-Identifier: BSL-1.0
/// Type promotion: the rules for the dtype of an operation's result, which depends on the dtypes of
/// the operands, and for the rounding of the result.
///
/// 1. The dtype of the higher category wins, regardless of widths: bool < integral < floating <
///    complex. i64 with f16 is f16, and f64 with complex64 is complex64.
/// 2. Within a category, the wider dtype wins.
/// 3. Two dtypes of one category and width that cannot represent each other's values promote to a
///    wider one: u8 with i8 is i16, and f16 with bf16 is f32.
///
/// Each operand is converted to the promoted dtype, or to f32 if the promoted dtype is f16 or bf16,
/// so that no operand is rounded to 16 bits. The result is rounded once, to its dtype. Example: an
/// f16 of 2346 plus an i16 of 5003, which f16 cannot represent, is 7349, which is rounded to 7348
/// in f16.
///
/// A Scalar is first rounded to its Scalar::operand_dtype(). Example: an f16 of 2346 plus the
/// Scalar 5003, which is first rounded to 5004 in f16, is 7350, which is rounded to 7352 in f16.
///
/// Source: PyTorch's categories.
#pragma once

#include <byre/tensor/dtype.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI {

/// The categories of dtypes, in ascending order.
enum class Category : std::uint8_t { boolean, integral, floating, complex };

/// The category of a dtype. All functions of this header require dtypes other than
/// DType::uninitialized. They are pure, take constant time and throw nothing.
constexpr Category category_of(DType dtype) noexcept {
  return dtype == DType::boolean ? Category::boolean
         : is_integral(dtype)    ? Category::integral
         : is_floating(dtype)    ? Category::floating
                                 : Category::complex;
}

/// The promoted dtype of two operands, by the rules above.
constexpr DType promoted(DType a, DType b) noexcept {
  if (category_of(a) != category_of(b)) {
    return category_of(a) > category_of(b) ? a : b;
  }
  if (itemsize(a) != itemsize(b)) {
    return itemsize(a) > itemsize(b) ? a : b;
  }
  return a == b ? a : is_integral(a) ? DType::i16 : DType::f32;
}

/// The dtype of the results of exp() and div() for operands that promote to `dtype`: f32 if `dtype`
/// is bool or integral, otherwise `dtype`.
constexpr DType promoted_to_floating(DType dtype) noexcept {
  return category_of(dtype) < Category::floating ? DType::f32 : dtype;
}

}  // namespace byre::inline BYRE_ABI
