// SPDX-License-Identifier: BSL-1.0
/// Paged memory: a write to data that is shared copies the pages it touches, and no others (Linux).
#pragma once

#include <byre/config.hpp>
#include <byre/memory/allocator.hpp>

#include <cstddef>

namespace byre::inline v0 {

/// Less than this is copied faster than it is mapped, and comes from default_allocator().
inline constexpr std::size_t least_paged_nbytes = std::size_t{256} << 10;

/// The allocator of paged memory. A write to data from it that is shared maps an overlay, a private view of
/// the data's pages: a page is copied by the system when it is first written. The last owner never waits:
/// while there are overlays of its data, it gets one too. docs/parts.md says what this costs.
///
/// Data of at least least_paged_nbytes lies in pages of a memory file, from 2 MiB on in huge pages where the
/// system makes them; all of it is present from the beginning then. Where there are none to be had (another
/// system, a limit of files' sizes or of mappings) it is ordinary memory, and a write copies all of it.
///
/// A page that cannot be had when it is first written ends the program, as anywhere: mutable_range() throws
/// instead.
///
/// Thread-safe. Never destroyed. Source: docs/parts.md.
BYRE_API Allocator& paged_allocator() noexcept;

}  // namespace byre::inline v0
