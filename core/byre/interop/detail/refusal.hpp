// SPDX-License-Identifier: BSL-1.0
/// Errors of the functions that read files, and how messages quote text of a file or of a user.
#pragma once

#include <byre/error/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace byre::inline v0::detail {

/// The first `most` characters, those that a terminal would obey as question marks.
std::string shown(std::string_view text, std::size_t most = 40);

/// Throws FileError, which says what was found in `source`, a file of the format `ending`, and the advice.
[[noreturn]] void refuse_as(const char* ending, const char* source, const Text& found,
                            const char* advice);

[[noreturn]] inline void refuse_npy(const char* source, const Text& found, const char* advice) {
  refuse_as(".npy", source, found, advice);
}

[[noreturn]] inline void refuse_safetensors(const char* source, const Text& found,
                                            const char* advice) {
  refuse_as(".safetensors", source, found, advice);
}

}  // namespace byre::inline v0::detail
