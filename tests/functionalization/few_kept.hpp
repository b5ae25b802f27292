// SPDX-License-Identifier: BSL-1.0
/// FewKept: for as long as it lives, aliases of this thread keep few updates and know few geometries, so
/// that programs of some steps meet the bounds of both.
#pragma once

#include <byre/functional/functionalize/detail/alias.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::test {

class FewKept {
 public:
  /// How few is another for each `kind`.
  explicit FewKept(std::uint64_t kind) {
    functional::detail::alias_bounds() = {.updates = 2 + kind % 3, .geometries = 1 + kind / 3 % 2};
  }
  FewKept(const FewKept&) = delete;
  FewKept& operator=(const FewKept&) = delete;
  ~FewKept() { functional::detail::alias_bounds() = {}; }

  static std::size_t updates_met() { return functional::detail::alias_bounds().updates_met; }
  static std::size_t geometries_met() { return functional::detail::alias_bounds().geometries_met; }
};

}  // namespace byre::test
