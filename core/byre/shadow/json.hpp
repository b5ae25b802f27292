// SPDX-License-Identifier: BSL-1.0
/// Text, as JSON writes it.
#pragma once

#include <string>
#include <string_view>

namespace byre::inline v0::shadow {

/// In quotes, with what needs it escaped. Bytes that are not UTF-8, which JSON has no way to say, are
/// the replacement character. Throws std::bad_alloc.
std::string json_string(std::string_view text);

}  // namespace byre::inline v0::shadow
