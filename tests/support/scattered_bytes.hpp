// SPDX-License-Identifier: BSL-1.0
/// scattered_bytes(): test data in which a byte copied from a wrong offset is likely to differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace byre::test {

/// The bytes have a period of 4 GiB. They do not repeat at smaller powers of two, at which a copy
/// may be split.
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
