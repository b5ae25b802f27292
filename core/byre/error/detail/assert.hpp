// SPDX-License-Identifier: BSL-1.0
/// BYRE_ASSERT ends the program if its condition is false. It detects errors that no caller could
/// handle, such as an overflow of an owner count, or a use after release. It is enabled in every
/// build.
#pragma once

#include <byre/config.hpp>
#include <byre/error/call_site.hpp>

namespace byre::inline BYRE_ABI::detail {

/// Writes `text` and `site` to stderr and aborts.
[[noreturn, gnu::cold]] BYRE_API void fail_assertion(const char* text,
                                                     CallSite site = CallSite::current()) noexcept;

}  // namespace byre::inline BYRE_ABI::detail

#define BYRE_ASSERT(condition, text) \
  (static_cast<bool>(condition) ? void(0) : ::byre::detail::fail_assertion(text))
