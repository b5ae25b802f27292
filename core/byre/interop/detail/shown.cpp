// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/shown.hpp>

#include <algorithm>

namespace byre::inline v0::detail {

std::string shown(std::string_view text, std::size_t most) {
  std::string visible(text.substr(0, most));
  std::ranges::replace_if(
      visible, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > most ? visible + "..." : visible;
}

}  // namespace byre::inline v0::detail
