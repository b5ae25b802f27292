// SPDX-License-Identifier: BSL-1.0
/// Scalar: a number as an operand beside a tensor. It has a category and no width: beside a tensor
/// of its category or a higher one it takes the tensor's dtype, so that `add(x, 1)` of an i8 tensor
/// is i8, and `mul(x, 0.5)` of a bf16 tensor bf16. An integer that an integral tensor's dtype has not
/// is refused, and never wrapped around: `add(x, 300)`. Only comparisons have an answer for it.
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

namespace byre::inline v0 {

/// Source: the weak scalars of NumPy 2 (NEP 50).
class BYRE_API Scalar {
 public:
  /// Integers are held as i64, floating-point numbers as f64. Throws DTypeError for an integer that
  /// is more than i64 holds, and so any dtype.
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

  /// The dtype this has by itself: bool, i64, f32 or complex64.
  DType dtype_alone() const noexcept {
    constexpr DType dtypes[] = {DType::boolean, DType::i64, DType::f32, DType::complex64};
    return dtypes[value_.index()];
  }

  /// The dtype this has as an operand beside a tensor of `dtype`: the tensor's, or, of a higher
  /// category than that, dtype_alone().
  DType operand_dtype(DType dtype) const noexcept {
    return static_cast<Category>(value_.index()) <= category_of(dtype) ? dtype : dtype_alone();
  }

  /// Calls `function` with the bool, std::int64_t, double or std::complex<float> that this is held as.
  template <class Function>
  decltype(auto) visit_held(Function&& function) const {
    return std::visit(std::forward<Function>(function), value_);
  }
  /// Null for what is no integer.
  const std::int64_t* as_integer() const noexcept { return std::get_if<std::int64_t>(&value_); }
  /// As a C++ number: as bool, whether it is not 0; else of a complex one the real part. As an integer
  /// truncated: throws DTypeError for what that type has not, which is a number out of its range, also a
  /// negative one of an unsigned type, an infinite one, and not a number. As a floating-point number
  /// rounded to nearest, and infinite out of range. Converts as C++ does, and so in the floating-point environment of
  /// the caller: to_tensor() does not.
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

  /// False for an integer out of the range of an integral dtype.
  bool fits(DType dtype) const;

  /// A tensor of no dimensions, on the host, converted as copy_ converts. Throws DTypeError for
  /// DType::uninitialized, OutOfMemory.
  Tensor to_tensor(DType dtype) const;

  /// The same, and throws DTypeError, which names `operation`, if this does not fit.
  Tensor fitting(DType dtype, const char* operation) const;

  /// An operand beside `tensor`. Throws StateError, as operations do, if that has no dtype, and
  /// DTypeError if this does not fit.
  Tensor operand_for(const Tensor& tensor, const char* operation) const;

  /// The same for comparisons, which are exact: an integer that does not fit is i64.
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
  /// Subnormals by an integer: with flush-to-zero the processor would make 0 of them.
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
    // Powers of two, or 0: exact in any floating-point type. The largest integer need not be.
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

}  // namespace byre::inline v0
