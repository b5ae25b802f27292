// SPDX-License-Identifier: BSL-1.0
/// Pieces of JSON text. All functions throw std::bad_alloc if memory is exhausted.
#pragma once

#include <byre/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace byre::inline BYRE_ABI::detail {

/// A JSON string: `text` escaped and in quotes, with U+FFFD for each byte of invalid UTF-8.
BYRE_API std::string in_quotes(std::string_view text);

/// `, "name": value`, where `value` is JSON.
BYRE_API std::string member(const char* name, const std::string& value);
BYRE_API std::string member(const char* name, std::uint64_t value);
/// `{members}`, without the `, ` that precedes the first member.
BYRE_API std::string object(const std::string& members);

}  // namespace byre::inline BYRE_ABI::detail
