// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/refusal.hpp>

#include <algorithm>

namespace byre::inline v0::detail {

std::string shown(std::string_view text, std::size_t most) {
  std::string visible(text.substr(0, most));
  std::ranges::replace_if(
      visible, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > most ? visible + "..." : visible;
}

void refuse_as(const char* ending, const char* source, const Text& found, const char* advice) {
  throw FileError(format_text("cannot read \"%.350s\" as a %s file: %.450s. %s", source, ending,
                              found.chars.data(), advice));
}

}  // namespace byre::inline v0::detail
