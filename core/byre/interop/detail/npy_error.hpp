// SPDX-License-Identifier: BSL-1.0
/// How whatever reads .npy files refuses one.
#pragma once

#include <byre/error/error.hpp>

#include <string>
#include <string_view>

namespace byre::inline v0::detail {

/// A piece of the file in a message: short, and without what a terminal would obey.
std::string shown(std::string_view text);

/// Throws FileError: what was found in `source`, and what to do.
[[noreturn]] void refuse_npy(const char* source, const Text& found, const char* advice);

}  // namespace byre::inline v0::detail
