// SPDX-License-Identifier: BSL-1.0
/// The limit of every count of owners or handles: more than any program has. A step that counts
/// beyond it ends the program, far from the overflow of a count, or of one field of a word into the
/// next.
#pragma once

#include <cstdint>

namespace byre::inline v0::sync {

inline constexpr std::uint32_t max_count = std::uint32_t{1} << 30;

}  // namespace byre::inline v0::sync
