// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/format.hpp>

#include <algorithm>

namespace byre::inline BYRE_ABI::detail {

std::string printable(std::string_view text, std::size_t most) {
  std::string visible(text.substr(0, most));
  std::ranges::replace_if(
      visible, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > most ? visible + "..." : visible;
}

void refuse_as(const char* ending, const char* source, const Text& found, const char* advice) {
  throw FileError(format_text("cannot read \"%.350s\" as a %s file: %.450s. %s", source, ending,
                              found.chars.data(), advice));
}

std::optional<std::string_view> find_duplicate(std::vector<std::string_view> names) {
  std::ranges::sort(names);  // not a hash table: names can be chosen to collide
  const auto repeated = std::ranges::adjacent_find(names);
  return repeated == names.end() ? std::nullopt : std::optional(*repeated);
}

std::string little_endian(std::uint64_t number, std::size_t nbytes) {
  std::string bytes;
  for (std::size_t at = 0; at < nbytes; ++at) {
    bytes += static_cast<char>(number >> 8 * at & 0xFF);
  }
  return bytes;
}

std::uint64_t read_little_endian(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (std::size_t at = bytes.size(); at-- > 0;) {
    number = number << 8 | std::to_integer<std::uint64_t>(bytes[at]);
  }
  return number;
}

}  // namespace byre::inline BYRE_ABI::detail
