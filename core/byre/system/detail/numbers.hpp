// SPDX-License-Identifier: BSL-1.0
/// Numbers in texts.
#pragma once

#include <byre/config.hpp>

namespace byre::inline BYRE_ABI::system {

/// Does what strtod() does in the locale "C". Thread-safe.
BYRE_API double to_double(const char* text, char** end) noexcept;

}  // namespace byre::inline BYRE_ABI::system
