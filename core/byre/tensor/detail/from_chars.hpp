// SPDX-License-Identifier: BSL-1.0
/// std::from_chars for double, because some standard libraries, such as libc++ 19, implement it for
/// integers only.
#pragma once

#include <byre/config.hpp>

#include <charconv>
#include <string_view>

namespace byre::inline BYRE_ABI::detail {

/// Like std::from_chars(text.begin(), text.end(), value): sets `value` to the nearest double.
/// Depends neither on the locale nor on the floating-point environment.
BYRE_API std::from_chars_result double_from_chars(std::string_view text, double& value);

}  // namespace byre::inline BYRE_ABI::detail
