// SPDX-License-Identifier: BSL-1.0
/// Paged memory (Linux and Windows): a write to shared data copies only the pages that it touches.
/// Use paged_allocator() for large data if writes change small parts of a clone.
#pragma once

#include <byre/config.hpp>
#include <byre/memory/allocator.hpp>

#include <cstddef>

namespace byre::inline BYRE_ABI {

/// Smaller data comes from default_allocator(), because copying it is faster than mapping it.
inline constexpr std::size_t least_paged_nbytes = std::size_t{256} << 10;

/// The allocator of paged memory.
///
/// A write to shared data maps an overlay: a private mapping of the data's pages, in which the
/// system copies a page at its first write. The last owner never waits; while its data has
/// overlays, a write of the last owner maps an overlay too. docs/parts.md lists the costs.
///
/// Data of at least least_paged_nbytes is stored in the pages of a memory file. From 2 MiB on, it
/// is in huge pages if the system provides them, and all of its pages are allocated immediately. If
/// pages are not available (another system, or a limit of file sizes or mappings), the data is
/// ordinary memory and a write copies all of it.
///
/// If the system cannot provide a page at the first write to it, the system ends the program, as it
/// does for any memory. To get an OutOfMemory exception instead, write through mutable_range().
///
/// Never destroyed. Thread-safe.
BYRE_API Allocator& paged_allocator() noexcept;

}  // namespace byre::inline BYRE_ABI
