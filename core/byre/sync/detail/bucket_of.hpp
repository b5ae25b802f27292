// SPDX-License-Identifier: BSL-1.0
/// Maps an address to a bucket of a hash table, such as the parking lot.
#pragma once

#include <byre/config.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::sync::detail {

/// Requires BucketBits >= 1. Returns a number below 2^BucketBits.
template <unsigned BucketBits>
std::size_t bucket_of(const void* address) noexcept {
  // Fibonacci hashing: the high bits of the product depend on all bits of the address.
  constexpr std::uint64_t golden_ratio = 0x9E37'79B9'7F4A'7C15;
  const std::uint64_t hash = reinterpret_cast<std::uintptr_t>(address) * golden_ratio;
  return static_cast<std::size_t>(hash >> (64 - BucketBits));
}

}  // namespace byre::inline BYRE_ABI::sync::detail
