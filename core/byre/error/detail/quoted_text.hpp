// SPDX-License-Identifier: BSL-1.0
/// Quotes the text of one error within another.
#pragma once

#include <byre/error/error.hpp>

namespace byre::inline BYRE_ABI::detail {

/// `text` without a final full stop, because the quoting sentence adds one. A final "..." remains.
BYRE_API Text without_full_stop(const char* text) noexcept;

}  // namespace byre::inline BYRE_ABI::detail
