// SPDX-License-Identifier: BSL-1.0
#include <byre/system/detail/numbers.hpp>

#include <cstdlib>

namespace byre::inline BYRE_ABI::system {

/// The function of mingw-w64 knows no locales.
double to_double(const char* text, char** end) noexcept {
  return ::__mingw_strtod(text, end);
}

}  // namespace byre::inline BYRE_ABI::system
