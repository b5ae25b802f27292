// SPDX-License-Identifier: BSL-1.0
/// How whatever reads .npy files refuses one.
#pragma once

#include <byre/error/error.hpp>

namespace byre::inline v0::detail {

/// Throws FileError: what was found in `source`, and what to do.
[[noreturn]] void refuse_npy(const char* source, const Text& found, const char* advice);

}  // namespace byre::inline v0::detail
