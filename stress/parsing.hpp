// SPDX-License-Identifier: BSL-1.0
/// Parsing of the small languages of options: numbers, and lists as read=4,write=2.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace byre::stress {

/// None if the text is not one whole number, or fraction, of that type.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end ? std::optional(number) : std::nullopt;
}

/// The inverse, as short as possible.
inline std::string shortest_text(double number) {
  std::array<char, 32> digits;
  return {digits.begin(), std::to_chars(digits.begin(), digits.end(), number).ptr};
}

/// Calls `take(name, value, part)` for each part "name=value". The value is null if there is no "=".
template <class Take>
void for_each_part(std::string_view text, Take take) {
  do {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    take(part.substr(0, equals), equals == part.npos ? std::string_view() : part.substr(equals + 1),
         part);
  } while (!text.empty());
}

}  // namespace byre::stress
