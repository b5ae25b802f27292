// SPDX-License-Identifier: BSL-1.0
/// page_nbytes and huge_page_nbytes: the sizes of pages, in bytes.
#pragma once

#include <byre/config.hpp>

#include <cstddef>

namespace byre::inline BYRE_ABI {

/// A multiple of every page size that a system of this architecture may be configured with.
/// WebAssembly does not map pages, so any size suits it.
#if defined(__x86_64__) || defined(__i386__) || defined(__wasm__)
inline constexpr std::size_t page_nbytes = std::size_t{4} << 10;
#else
inline constexpr std::size_t page_nbytes = std::size_t{64} << 10;
#endif
#if defined(__wasm__)
inline constexpr std::size_t huge_page_nbytes = page_nbytes;  // it has no huge pages
#else
inline constexpr std::size_t huge_page_nbytes = std::size_t{2} << 20;
#endif

}  // namespace byre::inline BYRE_ABI
