// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/numbers.hpp>
#include <byre/tensor/detail/float_environment.hpp>
#include <byre/tensor/detail/from_chars.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

namespace byre::inline BYRE_ABI::detail {
namespace {

bool is_letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool is_one_of(std::string_view characters, char c) noexcept {
  return characters.find(c) != characters.npos;
}

/// A copy of the prefix of `text` that strtod may read. The prefix contains the whole number that
/// std::from_chars would read. It excludes leading blanks, a plus sign and hexadecimal digits,
/// which strtod accepts and std::from_chars rejects: for "0x1", the prefix is "0".
std::string beginning_of(std::string_view text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const std::string_view digits = text.substr(sign);
  if (digits.empty() || (!is_letter_or_digit(digits[0]) && digits[0] != '.')) {
    return {};
  }
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    return std::string(text.substr(0, sign + 1));
  }
  // Within a number only the exponent has a sign; any other sign ends the number. Without this
  // rule, each call for a text such as "-1.5-1.5-1.5" would copy all numbers after the first, too.
  const auto* end = digits.begin();
  while (end != digits.end() && (is_letter_or_digit(*end) || is_one_of("._()", *end) ||
                                 (is_one_of("+-", *end) && is_one_of("eE", end[-1])))) {
    ++end;
  }
  return {text.begin(), end};
}

/// Distinguishes numbers out of range from subnormal numbers: strtod sets ERANGE for both. Compares
/// bits, because a comparison with 0 treats a subnormal as 0 if the thread flushes subnormals.
bool is_zero_or_infinite(double number) noexcept {
  const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(number) << 1;
  return magnitude == 0 || magnitude == std::uint64_t{0x7FF} << 53;
}

}  // namespace

std::from_chars_result double_from_chars(std::string_view text, double& value) {
  const std::string beginning = beginning_of(text);
  char* end = nullptr;
  const int errno_before = std::exchange(errno, 0);
  double read = 0;
  {
    const DefaultFloatEnvironment environment;
    read = system::to_double(beginning.c_str(), &end);
  }
  const bool is_out_of_range = std::exchange(errno, errno_before) == ERANGE;
  const auto length = end - beginning.c_str();
  if (length == 0) {
    return {text.data(), std::errc::invalid_argument};
  }
  if (is_out_of_range && is_zero_or_infinite(read)) {
    return {text.data() + length, std::errc::result_out_of_range};
  }
  value = read;
  return {text.data() + length, std::errc()};
}

}  // namespace byre::inline BYRE_ABI::detail
