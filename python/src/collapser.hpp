// SPDX-License-Identifier: BSL-1.0
/// Moves blocks that are copied again and again to huge pages, by a thread beside the program.
#pragma once

#include "blocks.hpp"

#include <memory>

namespace byre::inline v0::python {

/// So many lazy copies make a block worth the time: docs/parts.md has the figures.
inline constexpr std::uint32_t copies_until_collapse = 4;

/// Asks for a block to be collapsed, once. Starts the thread if there is none in this process. Thread-safe.
void collapse_later(const std::shared_ptr<Block>& block) noexcept;

/// Ends the thread, which may be within a block. Blocks that wait stay as they are.
void end_collapsing() noexcept;

/// Waits until no block waits.
void wait_for_collapses();

}  // namespace byre::inline v0::python
