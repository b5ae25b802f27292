// SPDX-License-Identifier: BSL-1.0
#include <byre/shadow/json.hpp>

#include <algorithm>
#include <cstdint>

namespace byre::inline v0::shadow {
namespace {

/// How many bytes at the start of `text` are one character of UTF-8, 0 if none are.
std::size_t character_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t at) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at]));
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) {
    return 0;
  }
  std::uint32_t character = first & (0x7fU >> length);
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xc0U) != 0x80U) {
      return 0;
    }
    character = (character << 6U) | (byte(at) & 0x3fU);
  }
  constexpr std::uint32_t first_of_length[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = character >= 0xd800 && character < 0xe000;
  return character < first_of_length[length] || character > 0x10ffff || is_surrogate ? 0 : length;
}

std::string control_character(char character) {
  constexpr char digits[] = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(character);
  return std::string("\\u00") + digits[code >> 4U] + digits[code & 15U];
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const char first = text[0];
    if (length == 0) {
      quoted += "\\ufffd";
    } else if (first == '"' || first == '\\') {
      quoted += {'\\', first};
    } else if (first == '\n') {
      quoted += "\\n";
    } else if (static_cast<unsigned char>(first) < 0x20) {
      quoted += control_character(first);
    } else {
      quoted += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return quoted + "\"";
}

}  // namespace byre::inline v0::shadow
