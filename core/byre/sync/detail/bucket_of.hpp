// SPDX-License-Identifier: BSL-1.0
/// Which bucket of a table beside objects an address falls into.
#pragma once

#include <cstddef>
#include <cstdint>

namespace byre::inline v0::sync::detail {

/// Of two to the power of `BucketBits` buckets, at least two.
template <unsigned BucketBits>
std::size_t bucket_of(const void* address) noexcept {
  // Fibonacci hashing: the high bits of the product depend on all bits of the address.
  constexpr std::uint64_t golden_ratio = 0x9E37'79B9'7F4A'7C15;
  const std::uint64_t hash = reinterpret_cast<std::uintptr_t>(address) * golden_ratio;
  return static_cast<std::size_t>(hash >> (64 - BucketBits));
}

}  // namespace byre::inline v0::sync::detail
