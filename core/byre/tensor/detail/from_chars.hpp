// SPDX-License-Identifier: BSL-1.0
/// std::from_chars of a double, for standard libraries that have it of integers alone, as libc++ 19.
#pragma once

#include <byre/config.hpp>

#include <charconv>
#include <string_view>

namespace byre::inline v0::detail {

/// What std::from_chars(text.begin(), text.end(), value) reads and returns: the nearest double, in no locale.
BYRE_API std::from_chars_result double_from_chars(std::string_view text, double& value);

}  // namespace byre::inline v0::detail
