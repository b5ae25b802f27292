// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/detail/from_chars.hpp>
#include <byre/tensor/print/detail/print_elements.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace byre::inline BYRE_ABI::detail {
namespace {

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

enum class Notation { fixed, scientific };

/// A decimal number: digits[0].digits[1..] times 10 to the power of `exponent`, without trailing
/// zeros. The number 0 has the digits "0" and the exponent 0.
struct Decimal {
  bool is_negative = false;
  std::string digits;
  int exponent = 0;

  /// The number of digits after the decimal point. Negative for a multiple of 10, whose trailing
  /// zeros are not in `digits`: -2 for 300.
  int fraction_digits(Notation notation) const noexcept {
    const int all = static_cast<int>(digits.size()) - 1;
    return notation == Notation::fixed ? all - exponent : all;
  }
};

/// At least the number of digits of the largest double before the decimal point.
constexpr std::size_t most_chars_but_precision = 400;

/// Parses a number: "-0.0250" and "-2.50e-02" give a minus, the digits "25" and the exponent -2.
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

std::string_view between(const char* begin, const char* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

/// The value rounded to `precision` digits after the decimal point.
template <std::floating_point T>
Decimal rounded(T value, Notation notation, int precision) {
  const auto format =
      notation == Notation::fixed ? std::chars_format::fixed : std::chars_format::scientific;
  std::string text(most_chars_but_precision + static_cast<std::size_t>(precision), '\0');
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  return parsed(between(text.data(), end.ptr));
}

template <std::floating_point T>
Decimal shortest(T value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
  return parsed(between(text, end.ptr));
}

/// The number of decimal digits that identify every number of the type.
template <class Half>
constexpr int most_digits = 0;
template <>
constexpr int most_digits<Float16> = 5;
template <>
constexpr int most_digits<BFloat16> = 4;

/// The decimal number of the fewest digits that reads back as `value`. The standard library lacks
/// such a function for 16-bit types, so this function tries 1 digit, 2 digits and so on.
template <class Half>
Decimal shortest(Half value) {
  const double exact = static_cast<float>(value);
  const double exponent = std::floor(std::log10(std::abs(exact)));
  for (int precision = 0; precision < most_digits<Half>; ++precision) {
    // Just below a power of two, the nearest decimal may read back as another number, while the
    // next decimal away from 0 reads back as this number.
    const double unit = std::copysign(std::pow(10, exponent - precision), exact);
    for (const double candidate : {exact, exact + unit}) {
      char text[32];
      const auto end = std::to_chars(text, text + sizeof text, candidate,
                                     std::chars_format::scientific, precision);
      double read = 0;
      double_from_chars(between(text, end.ptr), read);
      if (Half(static_cast<float>(read)).bits() == value.bits()) {
        return parsed(between(text, end.ptr));
      }
    }
  }
  return rounded(static_cast<float>(value), Notation::scientific, most_digits<Half> - 1);
}

/// The decimal number of the fewest digits that reads back as `value`. If fewer than `least` or
/// more than `most` of its digits are after the decimal point, `value` is rounded to `least` or
/// `most` digits after the point. Requires that `value` is finite.
template <class T>
Decimal decimal_of(T value, Notation notation, int least, int most) {
  Decimal decimal = shortest(value);
  const int needed = decimal.fraction_digits(notation);
  if (needed < least || needed > most) {
    return rounded<Wide<T>>(value, notation, std::clamp(needed, least, most));
  }
  return decimal;
}

/// Whether nonnegative numbers have a plus sign.
enum class Sign { where_negative, always };

template <class T>
bool is_finite(T value) {
  return std::isfinite(static_cast<Wide<T>>(value));
}

/// Fixed-point notation, unless the numbers would need many digits. Source: NumPy's rule.
template <class T>
Notation notation_for(std::span<const T> values) {
  Wide<T> largest = 0;
  Wide<T> smallest = 0;
  for (const T value : values) {
    const Wide<T> magnitude = std::abs(static_cast<Wide<T>>(value));
    if (magnitude != 0 && std::isfinite(magnitude)) {
      largest = std::max(largest, magnitude);
      smallest = smallest == 0 ? magnitude : std::min(smallest, magnitude);
    }
  }
  if (largest == 0) {
    return Notation::fixed;
  }
  const auto ratio = static_cast<Wide<T>>(T(largest / smallest));
  return largest >= Wide<T>(1e8) || static_cast<double>(smallest) < 1e-4 || ratio > Wide<T>(1000)
             ? Notation::scientific
             : Notation::fixed;
}

std::string sign_of(bool is_negative, Sign sign) {
  return is_negative ? "-" : sign == Sign::always ? "+" : "";
}

template <class T>
std::string not_finite(T value, Sign sign) {
  const auto wide = static_cast<Wide<T>>(value);
  return std::isnan(wide) ? sign_of(false, sign) + "nan" : sign_of(wide < 0, sign) + "inf";
}

/// "-0.025", without trailing zeros after the decimal point: 3 is "3.".
std::string in_fixed(const Decimal& decimal, Sign sign) {
  std::string digits = decimal.digits;
  int point = decimal.exponent + 1;
  if (point < 1) {
    digits.insert(0, static_cast<std::size_t>(1 - point), '0');
    point = 1;
  }
  const auto whole = static_cast<std::size_t>(point);
  digits.resize(std::max(digits.size(), whole), '0');
  return sign_of(decimal.is_negative, sign) + digits.insert(whole, 1, '.');
}

/// "-2.50e-02", with `fraction_digits` after the decimal point and `exponent_digits` in the
/// exponent.
std::string in_scientific(const Decimal& decimal, Sign sign, int fraction_digits,
                          std::size_t exponent_digits) {
  std::string digits = decimal.digits;
  digits.resize(static_cast<std::size_t>(fraction_digits) + 1, '0');
  std::string exponent = std::to_string(std::abs(decimal.exponent));
  exponent.insert(0, exponent_digits - exponent.size(), '0');
  return sign_of(decimal.is_negative, sign) + digits.insert(1, 1, '.') +
         (decimal.exponent < 0 ? "e-" : "e+") + exponent;
}

/// The format of all numbers of one tensor.
struct Columns {
  Notation notation;
  int fraction_digits = 0;
  std::size_t exponent_digits = 2;

  template <class T>
  void widen_for(T value, int precision) {
    const Decimal decimal = decimal_of(value, notation, 0, precision);
    fraction_digits = std::max(fraction_digits, decimal.fraction_digits(notation));
    exponent_digits = std::max(exponent_digits, std::to_string(std::abs(decimal.exponent)).size());
  }

  /// `value` in this format. Pads a fixed-point number with blanks, and a number in scientific
  /// notation with more of its digits.
  template <class T>
  std::string word_of(T value, Sign sign) const {
    if (notation == Notation::scientific) {
      const Decimal decimal = decimal_of(value, notation, fraction_digits, fraction_digits);
      return in_scientific(decimal, sign, fraction_digits, exponent_digits);
    }
    const Decimal decimal = decimal_of(value, notation, 0, fraction_digits);
    const int blank = fraction_digits - std::max(decimal.fraction_digits(notation), 0);
    return in_fixed(decimal, sign).append(static_cast<std::size_t>(blank), ' ');
  }
};

template <class T>
Words words_of_floats(std::span<const T> values, int precision, Sign sign) {
  Columns columns{notation_for(values)};
  for (const T value : values) {
    if (is_finite(value)) {
      columns.widen_for(value, precision);
    }
  }
  Words words;
  for (const T value : values) {
    words.push_back(is_finite(value) ? columns.word_of(value, sign) : not_finite(value, sign));
  }
  align_right(words);
  return words;
}

}  // namespace

void align_right(Words& words) {
  std::size_t width = 0;
  for (const std::string& word : words) {
    width = std::max(width, word.size());
  }
  for (std::string& word : words) {
    word.insert(0, width - word.size(), ' ');
  }
}

Words words_of(std::span<const bool> values, int) {
  Words words;
  for (const bool value : values) {
    words.emplace_back(value ? " True" : "False");
  }
  return words;
}

template <class T>
Words words_of(std::span<const T> values, int precision) {
  return words_of_floats(values, precision, Sign::where_negative);
}

template Words words_of(std::span<const Float16>, int);
template Words words_of(std::span<const BFloat16>, int);
template Words words_of(std::span<const float>, int);
template Words words_of(std::span<const double>, int);

Words words_of(std::span<const std::complex<float>> values, int precision) {
  std::vector<float> real;
  std::vector<float> imaginary;
  for (const std::complex<float>& value : values) {
    real.push_back(value.real());
    imaginary.push_back(value.imag());
  }
  Words words = words_of_floats<float>(real, precision, Sign::where_negative);
  Words others = words_of_floats<float>(imaginary, precision, Sign::always);
  for (std::size_t at = 0; at < words.size(); ++at) {
    std::string& other = others[at];
    words[at] += other.insert(other.find_last_not_of(' ') + 1, 1, 'j');
  }
  return words;
}

}  // namespace byre::inline BYRE_ABI::detail
