// SPDX-License-Identifier: BSL-1.0
/// Where in the user's code a call was made: a default argument of every operation that may copy
/// or that a checked build watches. std::source_location, for compilers that do not have it yet.
#pragma once

#include <cstdint>

namespace byre::inline v0 {

/// Two words, so that it travels in registers and costs nothing where nobody asks for it.
struct CallSite {
  const char* file = "?";
  std::uint32_t line = 0;

  /// The call site of the outermost call in whose default arguments this appears.
  static constexpr CallSite current(const char* file = __builtin_FILE(),
                                    std::uint32_t line = __builtin_LINE()) noexcept {
    return {file, line};
  }

  friend constexpr bool operator==(const CallSite&, const CallSite&) = default;
};

}  // namespace byre::inline v0
