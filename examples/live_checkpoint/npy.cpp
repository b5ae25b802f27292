// SPDX-License-Identifier: BSL-1.0
#include "npy.hpp"

#include <bit>
#include <cstdio>

namespace live_checkpoint {

std::string npy_header(std::uint64_t rows, std::uint64_t columns) {
  static_assert(sizeof(float) == 4);
  constexpr char byte_order = std::endian::native == std::endian::little ? '<' : '>';
  std::string description = std::string("{'descr': '") + byte_order +
                            "f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) +
                            ", " + std::to_string(columns) + "), }";
  // Magic, version and the length of what follows, then the description, padded with spaces so
  // that the data starts at a multiple of 64 bytes.
  constexpr std::size_t preamble_nbytes = 10;
  constexpr std::size_t alignment = 64;
  const std::size_t nbytes = preamble_nbytes + description.size() + 1;
  description.append((alignment - nbytes % alignment) % alignment, ' ').push_back('\n');
  std::string header("\x93NUMPY\x01\x00", 8);
  header.push_back(static_cast<char>(description.size() & 0xff));
  header.push_back(static_cast<char>(description.size() >> 8));
  return header + description;
}

std::string to_hex(std::uint32_t checksum) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(checksum));
  return text;
}

}  // namespace live_checkpoint
