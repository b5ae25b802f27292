// SPDX-License-Identifier: BSL-1.0
/// page_nbytes and huge_page_nbytes: the sizes of pages, in bytes.
#pragma once

#include <byre/config.hpp>

#include <cstddef>

namespace byre::inline BYRE_ABI {

/// A multiple of every page size that a system of this architecture may be configured with.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr std::size_t page_nbytes = std::size_t{4} << 10;
#else
inline constexpr std::size_t page_nbytes = std::size_t{64} << 10;
#endif
inline constexpr std::size_t huge_page_nbytes = std::size_t{2} << 20;

}  // namespace byre::inline BYRE_ABI
