// SPDX-License-Identifier: BSL-1.0
/// Type promotion: the dtype of an operation's result, from the dtypes of its operands. The rules
/// also define how often the result is rounded.
///
/// 1. bool < integral < floating < complex: the higher category wins, for any widths. i64 with f16
///    is f16, and f64 with complex64 is complex64.
/// 2. Within a category, the wider dtype wins.
/// 3. u8 with i8 is i16, and f16 with bf16 is f32: neither can represent the other's values.
///
/// Operands are converted to the promoted dtype, but to float if that is f16 or bf16: no operand is
/// rounded to 16 bits. The result is rounded once, to its dtype. Example: the f16 2346 plus the i16
/// 5003, which f16 cannot represent, is 7349, rounded to the f16 7348.
///
/// A Scalar is first rounded to its Scalar::operand_dtype(). Example: the f16 2346 plus the number
/// 5003, rounded to the f16 5004, is 7350, rounded to the f16 7352.
///
/// Source: PyTorch's categories.
#pragma once

#include <byre/tensor/dtype.hpp>

#include <cstdint>

namespace byre::inline v0 {

/// The kinds of dtypes, in ascending order.
enum class Category : std::uint8_t { boolean, integral, floating, complex };

/// The functions in this header require dtypes other than DType::uninitialized.
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

/// The dtype in which exp and a true division compute: f32 for bool and integers, otherwise
/// `dtype`.
constexpr DType promoted_to_floating(DType dtype) noexcept {
  return category_of(dtype) < Category::floating ? DType::f32 : dtype;
}

}  // namespace byre::inline v0
