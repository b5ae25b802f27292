// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/detail/safetensors_format.hpp>

#include <algorithm>

namespace byre::inline v0::detail {

std::optional<std::string_view> repeated_of(std::vector<std::string_view> names) {
  std::ranges::sort(names);  // and no hash table, which names can be made to collide in
  const auto repeated = std::ranges::adjacent_find(names);
  return repeated == names.end() ? std::nullopt : std::optional(*repeated);
}

}  // namespace byre::inline v0::detail
