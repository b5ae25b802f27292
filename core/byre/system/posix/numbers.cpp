// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/system/detail/numbers.hpp>

#include <locale.h>
#include <stdlib.h>
#if __has_include(<xlocale.h>)  // declares both functions on macOS and FreeBSD
#include <xlocale.h>
#endif

namespace byre::inline BYRE_ABI::system {

/// In glibc and musl, newlocale() returns a constant for "C" and cannot fail.
double to_double(const char* text, char** end) noexcept {
  const locale_t classic = ::newlocale(LC_ALL_MASK, "C", locale_t{});
  BYRE_ASSERT(classic != locale_t{}, "out of memory for the locale \"C\"");
  const double number = ::strtod_l(text, end, classic);
  ::freelocale(classic);
  return number;
}

}  // namespace byre::inline BYRE_ABI::system
