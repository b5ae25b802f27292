// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/detail/from_chars.hpp>
#include <byre/tensor/print/detail/decimal.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <string_view>
#include <type_traits>

namespace byre::inline v0::detail {
namespace {

/// Room for the digits of the largest double in front of the point.
constexpr std::size_t most_chars_but_precision = 400;

/// "-0.0250" and "-2.50e-02" are -, "25" and -2.
Decimal parsed(std::string_view text) {
  Decimal decimal;
  decimal.is_negative = text.starts_with('-');
  text.remove_prefix(decimal.is_negative ? 1 : 0);
  const std::string_view mantissa = text.substr(0, text.find('e'));
  if (mantissa.size() != text.size()) {
    std::string_view exponent = text.substr(mantissa.size() + 1);
    exponent.remove_prefix(exponent.starts_with('+') ? 1 : 0);
    std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  }
  decimal.digits = mantissa;
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  decimal.digits.erase(point, 1);
  decimal.exponent += static_cast<int>(point) - 1;
  const std::size_t leading = decimal.digits.find_first_not_of('0');
  if (leading == std::string::npos) {
    return {decimal.is_negative, "0", 0};
  }
  decimal.digits.erase(decimal.digits.find_last_not_of('0') + 1);
  decimal.digits.erase(0, leading);
  decimal.exponent -= static_cast<int>(leading);
  return decimal;
}

/// The value rounded to `precision` digits behind the point.
template <std::floating_point T>
Decimal rounded(T value, Notation notation, int precision) {
  const auto format =
      notation == Notation::fixed ? std::chars_format::fixed : std::chars_format::scientific;
  std::string text(most_chars_but_precision + static_cast<std::size_t>(precision), '\0');
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  return parsed({text.data(), end.ptr});
}

template <std::floating_point T>
Decimal shortest(T value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
  return parsed({text, end.ptr});
}

/// From as many digits every number of the type is read back.
template <class Half>
constexpr int most_digits = 0;
template <>
constexpr int most_digits<Float16> = 5;
template <>
constexpr int most_digits<BFloat16> = 4;

/// What the library has no function for: digits are added until only this number is read from them.
template <class Half>
Decimal shortest(Half value) {
  const double exact = static_cast<float>(value);
  const double exponent = std::floor(std::log10(std::abs(exact)));
  for (int precision = 0; precision < most_digits<Half>; ++precision) {
    // The nearest may be too far below a power of two, where the one beyond is not.
    const double unit = std::copysign(std::pow(10, exponent - precision), exact);
    for (const double candidate : {exact, exact + unit}) {
      char text[32];
      const auto end = std::to_chars(text, text + sizeof text, candidate,
                                     std::chars_format::scientific, precision);
      double read = 0;
      double_from_chars({text, end.ptr}, read);
      if (Half(static_cast<float>(read)).bits() == value.bits()) {
        return parsed({text, end.ptr});
      }
    }
  }
  return rounded(static_cast<float>(value), Notation::scientific, most_digits<Half> - 1);
}

}  // namespace

template <class T>
Decimal decimal_of(T value, Notation notation, int least, int most) {
  Decimal decimal = shortest(value);
  const int needed = decimal.fraction_digits(notation);
  if (needed < least || needed > most) {
    using Wide = std::conditional_t<std::floating_point<T>, T, float>;
    return rounded<Wide>(value, notation, std::clamp(needed, least, most));
  }
  return decimal;
}

template Decimal decimal_of(Float16, Notation, int, int);
template Decimal decimal_of(BFloat16, Notation, int, int);
template Decimal decimal_of(float, Notation, int, int);
template Decimal decimal_of(double, Notation, int, int);

}  // namespace byre::inline v0::detail
