// SPDX-License-Identifier: BSL-1.0
/// The text of one error within that of another.
#pragma once

#include <byre/error/error.hpp>

namespace byre::inline v0::detail {

/// `text` without the full stop at its end: the sentence that quotes it brings one.
BYRE_API Text without_full_stop(const char* text) noexcept;

}  // namespace byre::inline v0::detail
