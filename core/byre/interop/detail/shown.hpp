// SPDX-License-Identifier: BSL-1.0
/// Text of a file, or of a user, as messages quote it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace byre::inline v0::detail {

/// The first `most` characters, those that a terminal would obey as question marks.
std::string shown(std::string_view text, std::size_t most = 40);

}  // namespace byre::inline v0::detail
