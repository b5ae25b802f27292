// SPDX-License-Identifier: BSL-1.0
/// Bytes that show where a copy took them from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace byre::test {

/// They repeat after 4 GiB, and not after a power of two below that, as the parts of a copy do.
inline std::vector<std::byte> scattered_bytes(std::size_t nbytes) {
  std::vector<std::byte> bytes(nbytes);
  std::uint32_t scattered = 0;
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(scattered >> 24);
    scattered += 2654435761U;
  }
  return bytes;
}

}  // namespace byre::test
