// SPDX-License-Identifier: BSL-1.0
/// SmallAliasBounds: for as long as it lives, aliases of this thread keep few updates and few
/// regions, so that programs of some steps reach both bounds.
#pragma once

#include <byre/functional/functionalize/detail/alias.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::test {

class SmallAliasBounds {
 public:
  /// How small is another for each `kind`.
  explicit SmallAliasBounds(std::uint64_t kind) {
    functional::detail::alias_bounds() = {.updates = 2 + kind % 3, .regions = 1 + kind / 3 % 2};
  }
  SmallAliasBounds(const SmallAliasBounds&) = delete;
  SmallAliasBounds& operator=(const SmallAliasBounds&) = delete;
  ~SmallAliasBounds() { functional::detail::alias_bounds() = {}; }

  static std::size_t updates_reached() {
    return functional::detail::alias_bounds().updates_reached;
  }
  static std::size_t regions_reached() {
    return functional::detail::alias_bounds().regions_reached;
  }
};

}  // namespace byre::test
