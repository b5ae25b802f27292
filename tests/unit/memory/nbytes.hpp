// SPDX-License-Identifier: BSL-1.0
/// Byte sizes and addresses for tests.
#pragma once

#include <byre/memory/pages.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::test {

inline constexpr std::size_t kib = 1024;
inline constexpr std::size_t mib = 1024 * kib;
/// A pool limit that no test reaches.
inline constexpr std::size_t plenty = 1024 * mib;

constexpr std::size_t pages(std::size_t count) {
  return count * page_nbytes;
}

inline std::uintptr_t address_of(const void* place) {
  return reinterpret_cast<std::uintptr_t>(place);
}

}  // namespace byre::test
