// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/npy_error.hpp>

#include <algorithm>

namespace byre::inline v0::detail {

std::string shown(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string visible(text.substr(0, most));
  std::ranges::replace_if(
      visible, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > most ? visible + "..." : visible;
}

void refuse_npy(const char* source, const Text& found, const char* advice) {
  throw FileError(format_text("cannot read \"%.400s\" as a .npy file: %.400s. %s", source,
                              found.chars.data(), advice));
}

}  // namespace byre::inline v0::detail
