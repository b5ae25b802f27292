// SPDX-License-Identifier: BSL-1.0
/// What Linux can be told about pages. Elsewhere the advice does nothing.
#pragma once

#include <cstddef>

namespace byre::inline v0 {

/// Whether the system gives huge pages to those who ask. Looked up once.
bool grants_huge_pages() noexcept;

/// Asks for huge pages; 0 bytes ask for nothing.
void advise_huge(std::byte* address, std::size_t nbytes) noexcept;

/// Makes the pages present at once, which is cheaper than one by one at first touch.
void populate(std::byte* address, std::size_t nbytes) noexcept;

/// Lets the system take the pages when it runs short of memory; contents become indeterminate.
void advise_reclaimable(std::byte* address, std::size_t nbytes) noexcept;

}  // namespace byre::inline v0
