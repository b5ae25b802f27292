// SPDX-License-Identifier: BSL-1.0
/// Scalar: a number as an operand beside a tensor. It has a category and no width: beside a tensor
/// of its category or a higher one it takes the tensor's dtype, so that `add(x, 1)` of an i8 tensor
/// is i8, and `mul(x, 0.5)` of a bf16 tensor bf16.
#pragma once

#include <byre/tensor/promotion.hpp>
#include <byre/tensor/tensor.hpp>

#include <complex>
#include <cstdint>
#include <type_traits>
#include <variant>

namespace byre::inline v0 {

/// Source: the weak scalars of NumPy 2 (NEP 50).
class Scalar {
 public:
  /// Integers are held as i64, floating-point numbers as f64.
  template <class T>
  requires(std::is_arithmetic_v<T> || Element<T>) constexpr Scalar(T value) noexcept
      : value_(static_cast<Held<T>>(value)) {}

  /// The dtype this has as an operand beside a tensor of `dtype`: the tensor's, or, of a higher
  /// category than that, i64, f32 or complex64.
  DType dtype_beside(DType dtype) const noexcept {
    constexpr DType alone[] = {DType::boolean, DType::i64, DType::f32, DType::complex64};
    const auto category = static_cast<Category>(value_.index());
    return category <= category_of(dtype) ? dtype : alone[value_.index()];
  }

  /// A tensor of no dimensions, on the host, converted as copy_ converts. Throws DTypeError for
  /// DType::uninitialized, OutOfMemory.
  Tensor to_tensor(DType dtype) const;

  /// An operand beside `tensor`. Throws StateError, as operations do, if that has no dtype.
  Tensor beside(const Tensor& tensor, const char* operation) const;

 private:
  template <class T>
  using Held = std::conditional_t<
      std::is_same_v<T, bool>, bool,
      std::conditional_t<std::is_integral_v<T>, std::int64_t,
                         std::conditional_t<std::is_same_v<T, std::complex<float>>, T, double>>>;

  // In the order of Category.
  std::variant<bool, std::int64_t, double, std::complex<float>> value_;
};

}  // namespace byre::inline v0
