// SPDX-License-Identifier: BSL-1.0
/// Pages whose access a test may forbid, and whether pages are mapped.
#pragma once

#include <cstddef>

namespace byre::test {

/// Maps fresh pages that may be read and written. Throws std::bad_alloc. `nbytes` is a multiple of
/// the size of a page in all three functions.
void* map_pages(std::size_t nbytes);
void unmap_pages(void* begin, std::size_t nbytes) noexcept;

/// Allows or forbids every access. Throws std::runtime_error if the system refuses.
void set_access(void* begin, std::size_t nbytes, bool is_allowed);

/// The mapped bytes in a range of whole pages. Its pages need not be mapped.
std::size_t mapped_nbytes(std::byte* begin, std::size_t nbytes) noexcept;

}  // namespace byre::test
