// SPDX-License-Identifier: BSL-1.0
/// std::from_chars for double, for standard libraries that have it for integers only, such as
/// libc++ 19.
#pragma once

#include <byre/config.hpp>

#include <charconv>
#include <string_view>

namespace byre::inline v0::detail {

/// As std::from_chars(text.begin(), text.end(), value): sets `value` to the nearest double,
/// independent of the locale and the floating-point environment.
BYRE_API std::from_chars_result double_from_chars(std::string_view text, double& value);

}  // namespace byre::inline v0::detail
