// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/json_text.hpp>

namespace byre::inline v0 {

std::string detail::in_quotes(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\') {
      result += {'\\', each};
    } else if (byte < 0x20) {
      result += std::string("\\u00") + digits[byte >> 4U] + digits[byte & 15U];
    } else {
      result += each;
    }
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

}  // namespace byre::inline v0
