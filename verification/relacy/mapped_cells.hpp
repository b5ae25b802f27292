// SPDX-License-Identifier: BSL-1.0
/// What map_file maps in this program: core's map_file is defined anew, as watched cells in place
/// of a file, so that a write to a mapping, a use of it after its end, and an end that never comes
/// are verdicts. tests/unit/storage maps files.
#pragma once

namespace byre::verification {

/// Every file is one cell of this number.
inline constexpr unsigned mapped_number = 7;

/// How many mappings there are in this execution that have not ended.
unsigned live_mappings() noexcept;

}  // namespace byre::verification
