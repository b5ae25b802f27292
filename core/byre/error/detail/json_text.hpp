// SPDX-License-Identifier: BSL-1.0
/// JSON, piece by piece, as text. Throws std::bad_alloc.
#pragma once

#include <byre/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace byre::inline v0::detail {

/// In quotes, with what needs it escaped, and U+FFFD for each byte that is of no character of UTF-8.
BYRE_API std::string in_quotes(std::string_view text);

/// A member of an object, and of its first one without what parts it from others.
BYRE_API std::string member(const char* name, const std::string& value);
BYRE_API std::string member(const char* name, std::uint64_t value);
BYRE_API std::string object(const std::string& members);

}  // namespace byre::inline v0::detail
