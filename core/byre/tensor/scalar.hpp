// SPDX-License-Identifier: BSL-1.0
/// Scalar: a number that is an operand of an operation, together with a tensor. This header
/// converts the number to the dtype that the operation computes in.
///
/// A Scalar has a category (bool, integral, floating or complex, in ascending order), but no width.
/// If the category is not higher than that of the tensor, the Scalar takes the tensor's dtype:
/// `add(x, 1)` of an i8 tensor is i8, and `mul(x, 0.5)` of a bf16 tensor is bf16. An integer that
/// is out of range of an integral dtype is rejected, never wrapped around: `add(x, 300)` throws for
/// an i8 tensor. Comparisons accept such an integer.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/promotion.hpp>
#include <byre/tensor/tensor.hpp>

#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

namespace byre::inline BYRE_ABI {

/// A number of category bool, integral, floating or complex. Thread-safety: as an int. Cost:
/// constant time; the members that return a Tensor allocate one. Source: the weak scalars of NumPy
/// 2 (NEP 50).
class BYRE_API Scalar {
 public:
  /// Stores an integer as i64, a floating-point number as f64. Throws DTypeError if an integer
  /// exceeds the range of i64, because no integral dtype is wider.
  template <class T>
  requires(std::is_arithmetic_v<T> ||
           Element<T>) constexpr Scalar(T value) noexcept(!exceeds_i64<T>)
      : value_(held(value)) {
    if constexpr (exceeds_i64<T>) {
      if (value > static_cast<T>((std::numeric_limits<std::int64_t>::max)())) {
        refuse(value);
      }
    }
  }

  /// The dtype of this number if no tensor determines it: bool, i64, f32 or complex64.
  DType dtype_alone() const noexcept {
    constexpr DType dtypes[] = {DType::boolean, DType::i64, DType::f32, DType::complex64};
    return dtypes[value_.index()];
  }

  /// The dtype of this number as an operand, together with a tensor of `dtype`: dtype_alone() if
  /// this number has a higher category than `dtype`, otherwise `dtype`.
  DType operand_dtype(DType dtype) const noexcept {
    return static_cast<Category>(value_.index()) <= category_of(dtype) ? dtype : dtype_alone();
  }

  /// Calls `function` with the stored bool, std::int64_t, double or std::complex<float>.
  template <class Function>
  decltype(auto) visit_held(Function&& function) const {
    return std::visit(std::forward<Function>(function), value_);
  }
  /// The stored integer, or null if this number is not an integer. A bool is not an integer.
  const std::int64_t* as_integer() const noexcept { return std::get_if<std::int64_t>(&value_); }
  /// Converts to a C++ number. A complex number is converted by its real part, except to bool.
  /// - To bool: whether the number is not 0.
  /// - To an integer: truncated. Throws DTypeError if the number is out of range of T (negative for
  ///   an unsigned type, for example), infinite or NaN.
  /// - To a floating-point number: rounded to nearest; infinite if out of range.
  ///
  /// The result depends on the floating-point environment of the caller, as in C++. The result of
  /// to_tensor() does not.
  template <class T>
  requires std::is_arithmetic_v<T> T as()
  const {
    return visit_held([&]<class Number>(Number number) -> T {
      if constexpr (std::is_same_v<T, bool>) {
        return number != Number(0);
      } else if constexpr (std::is_same_v<Number, std::complex<float>>) {
        return as_number<T>(number.real());
      } else {
        return as_number<T>(number);
      }
    });
  }

  /// False if this number is an integer that is out of range of `dtype`, an integral dtype. True
  /// otherwise.
  bool fits(DType dtype) const;

  /// This number as a tensor without dimensions, on the host, converted as by copy_(). Throws
  /// DTypeError if `dtype` is DType::uninitialized, or OutOfMemory.
  Tensor to_tensor(DType dtype) const;

  /// Like to_tensor(), but also throws DTypeError, which names `operation`, if fits() is false.
  Tensor fitting(DType dtype, const char* operation) const;

  /// This number as an operand of `operation` with `tensor`: a tensor without dimensions, of
  /// operand_dtype(). Throws StateError if `tensor` is an empty handle or dtype-uninitialized,
  /// DTypeError if fits() is false for the dtype, or OutOfMemory.
  Tensor operand_for(const Tensor& tensor, const char* operation) const;

  /// Like operand_for(), but for comparisons, which are exact: if this number is an integer that
  /// does not fit, returns a tensor of i64 instead of throwing.
  Tensor compared_with(const Tensor& tensor, const char* operation) const;

 private:
  template <class T>
  using Held = std::conditional_t<
      std::is_same_v<T, bool>, bool,
      std::conditional_t<std::is_integral_v<T>, std::int64_t,
                         std::conditional_t<std::is_same_v<T, std::complex<float>>, T, double>>>;
  template <class T>
  static constexpr bool exceeds_i64 = std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::int64_t);

  template <class T>
  static constexpr Held<T> held(T value) noexcept {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, BFloat16>) {
      return widened(value);
    } else {
      return static_cast<Held<T>>(value);
    }
  }
  /// Converts subnormals through an integer: with flush-to-zero, the processor would make them 0.
  static constexpr double widened(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7FFF'FFFFU;
    if (magnitude >= 0x0080'0000U) {
      return static_cast<double>(value);
    }
    const double whole = static_cast<double>(magnitude) * 0x1p-149;
    return magnitude == bits ? whole : -whole;
  }

  [[noreturn]] static void refuse(std::uint64_t value);

  template <class T, class Number>
  T as_number(Number number) const {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<Number, bool>) {
      if (!is_representable<T>(number)) {
        refuse_as(sizeof(T), std::is_signed_v<T>);
      }
    }
    return static_cast<T>(number);
  }
  template <class T>
  static bool is_representable(std::int64_t number) noexcept {
    return (std::is_signed_v<T> || number >= 0) &&
           static_cast<std::int64_t>(static_cast<T>(number)) == number;
  }
  template <class T, std::floating_point Number>
  static bool is_representable(Number number) noexcept {
    // Both limits are exact in any floating-point type, because the magnitude of each is 0 or a
    // power of two. The largest integer may be inexact, so the upper limit is the number after it.
    constexpr auto lowest = static_cast<Number>((std::numeric_limits<T>::min)());
    constexpr auto beyond =
        static_cast<Number>((std::numeric_limits<T>::max)() / 2 + 1) * Number{2};
    const Number whole = std::trunc(number);
    return whole >= lowest && whole < beyond;
  }
  [[noreturn]] void refuse_as(std::size_t nbytes, bool is_signed) const;

  // In the order of Category.
  std::variant<bool, std::int64_t, double, std::complex<float>> value_;
};

}  // namespace byre::inline BYRE_ABI
