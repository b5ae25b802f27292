// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/print/detail/decimal.hpp>
#include <byre/tensor/print/detail/print_elements.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>

namespace byre::inline v0::detail {
namespace {

/// Numbers of no sign have none, or a plus.
enum class Sign { where_negative, always };

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
bool is_finite(T value) {
  return std::isfinite(static_cast<Wide<T>>(value));
}

/// Fixed-point unless that takes many digits.
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

/// "-0.025", without a zero behind the point but the one before it: "3." is 3.
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

/// "-2.50e-02", with that many digits behind the point and in the exponent.
std::string in_scientific(const Decimal& decimal, Sign sign, int fraction_digits,
                          std::size_t exponent_digits) {
  std::string digits = decimal.digits;
  digits.resize(static_cast<std::size_t>(fraction_digits) + 1, '0');
  std::string exponent = std::to_string(std::abs(decimal.exponent));
  exponent.insert(0, exponent_digits - exponent.size(), '0');
  return sign_of(decimal.is_negative, sign) + digits.insert(1, 1, '.') +
         (decimal.exponent < 0 ? "e-" : "e+") + exponent;
}

/// What the numbers of one tensor have in common.
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

  /// In fixed-point, digits that a number does not need are left blank; in scientific notation they
  /// are its own.
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

Words words_of(std::span<const Float16> values, int precision) {
  return words_of_floats(values, precision, Sign::where_negative);
}
Words words_of(std::span<const BFloat16> values, int precision) {
  return words_of_floats(values, precision, Sign::where_negative);
}
Words words_of(std::span<const float> values, int precision) {
  return words_of_floats(values, precision, Sign::where_negative);
}
Words words_of(std::span<const double> values, int precision) {
  return words_of_floats(values, precision, Sign::where_negative);
}

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

}  // namespace byre::inline v0::detail
