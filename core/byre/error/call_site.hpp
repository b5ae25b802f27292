// SPDX-License-Identifier: BSL-1.0
/// CallSite: the file and line of a call in the user's code. Every operation that may copy, or that
/// a checked build monitors, takes one as a default argument. It stands in for
/// std::source_location, which some supported compilers lack.
#pragma once

#include <byre/config.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI {

/// Two words, so it is passed in registers and costs nothing if the callee ignores it.
struct CallSite {
  const char* file = "?";
  std::uint32_t line = 0;

  /// Used as a default argument, returns the place of the call in the user's code. If default
  /// arguments nest, this is the place of the outermost call.
  static constexpr CallSite current(const char* file = __builtin_FILE(),
                                    std::uint32_t line = __builtin_LINE()) noexcept {
    return {file, line};
  }

  friend constexpr bool operator==(const CallSite&, const CallSite&) = default;
};

}  // namespace byre::inline BYRE_ABI
