// SPDX-License-Identifier: BSL-1.0
/// Pages that a forked process does not get: while the parent could not have a private mapping of them, parent and
/// child would write the same memory.
#pragma once

#include <cstddef>

namespace byre::inline v0::detail {

/// In the child, before it has a second thread: takes the mapping away, and reserves its addresses for good. The
/// first access to them ends the process with a message. Nothing throws.
void lose_pages(std::byte* data, std::size_t nbytes) noexcept;

/// Whether this process lost the page at the address, whose protection then has to stay. Async-signal-safe.
bool is_lost(const void* address) noexcept;

}  // namespace byre::inline v0::detail
