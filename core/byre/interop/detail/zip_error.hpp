// SPDX-License-Identifier: BSL-1.0
/// How whatever reads archives refuses one.
#pragma once

#include <byre/error/error.hpp>

#include <string_view>

namespace byre::inline v0::detail {

/// Throws FileError: what was found in `source`, and what to do.
[[noreturn]] void refuse_zip(const char* source, const Text& found, const char* advice);
/// The same of a member: `its member "a.npy" <found>`.
[[noreturn]] void refuse_member(const char* source, std::string_view member, const Text& found,
                                const char* advice);

/// Throws FileError for a piece of an archive of several files.
[[noreturn]] void refuse_parts(const char* source);

/// Advice.
inline constexpr const char* save_again = "Was it cut short, or changed? Save it again.";
inline constexpr const char* save_with_numpy =
    "Save it with numpy.savez or numpy.savez_compressed.";

}  // namespace byre::inline v0::detail
