// SPDX-License-Identifier: BSL-1.0
/// A floating-point number in decimal: the fewest digits that read back as it, or as many as asked.
#pragma once

#include <byre/tensor/half.hpp>

#include <string>

namespace byre::inline v0::detail {

enum class Notation { fixed, scientific };

/// digits[0].digits[1..] times 10 to the `exponent`; 0 is one digit, "0", exponent 0. Ends in no
/// other zero.
struct Decimal {
  bool is_negative = false;
  std::string digits;
  int exponent = 0;

  /// Digits that are needed behind the point; less than 0 for hundreds that need no tens.
  int fraction_digits(Notation notation) const noexcept {
    const int all = static_cast<int>(digits.size()) - 1;
    return notation == Notation::fixed ? all - exponent : all;
  }
};

/// The fewest digits that only `value`, which is finite, is read from. Where these are less than
/// `least` or more than `most` behind the point, the value is rounded to that many.
template <class T>
Decimal decimal_of(T value, Notation notation, int least, int most);

extern template Decimal decimal_of(Float16, Notation, int, int);
extern template Decimal decimal_of(BFloat16, Notation, int, int);
extern template Decimal decimal_of(float, Notation, int, int);
extern template Decimal decimal_of(double, Notation, int, int);

}  // namespace byre::inline v0::detail
