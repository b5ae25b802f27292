// SPDX-License-Identifier: BSL-1.0
/// Paged buffers in which all bytes are equal.
#pragma once

#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>

#include <cstddef>
#include <cstring>

namespace byre::test {

inline constexpr std::size_t paged_nbytes = 8 << 20;

/// MADV_COLLAPSE; older headers lack it.
inline constexpr int collapse_advice = 25;

inline Buffer filled(std::byte with, std::size_t size = paged_nbytes,
                     Allocator& allocator = paged_allocator()) {
  Buffer buffer = Buffer::allocate(size, allocator);
  std::memset(buffer.mutable_data(), static_cast<int>(with), size);
  return buffer;
}

inline bool is_all(const Buffer& buffer, std::byte expected) {
  const std::byte* const data = buffer.data();
  return data[0] == expected && std::memcmp(data, data + 1, buffer.nbytes() - 1) == 0;
}

}  // namespace byre::test
