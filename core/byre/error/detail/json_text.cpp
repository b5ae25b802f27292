// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/json_text.hpp>

namespace byre::inline BYRE_ABI {

namespace {

/// The length in bytes of the UTF-8 character at the start of `text`; 0 if the bytes are not valid
/// UTF-8.
std::size_t nbytes_of_character(std::string_view text) noexcept {
  const auto byte = [text](std::size_t index) {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
  };
  const unsigned first = byte(0);
  const std::size_t nbytes = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  for (std::size_t index = 1; index < nbytes; ++index) {
    if (byte(index) >> 6U != 2) {
      return 0;
    }
  }
  const unsigned second = byte(1);
  const bool is_overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool is_beyond = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return is_overlong || is_beyond ? 0 : nbytes;
}

}  // namespace

std::string detail::in_quotes(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t nbytes = nbytes_of_character(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    if (nbytes == 0) {
      result += "\\ufffd";
    } else if (byte == '"' || byte == '\\') {
      result += {'\\', text[0]};
    } else if (byte < 0x20) {
      result += std::string("\\u00") + digits[byte >> 4U] + digits[byte & 15U];
    } else {
      result += text.substr(0, nbytes);
    }
    text.remove_prefix(nbytes == 0 ? 1 : nbytes);
  }
  return result + "\"";
}

std::string detail::member(const char* name, const std::string& value) {
  return std::string(", \"") + name + "\": " + value;
}
std::string detail::member(const char* name, std::uint64_t value) {
  return member(name, std::to_string(value));
}
std::string detail::object(const std::string& members) {
  return std::string("{").append(members, 2).append("}");
}

}  // namespace byre::inline BYRE_ABI
