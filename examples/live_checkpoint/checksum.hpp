// SPDX-License-Identifier: BSL-1.0
/// The CRC-32 that tells two files apart.
#pragma once

#include <boost/crc.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

namespace examples::live_checkpoint {

/// CRC-32 as in zip and gzip, of bytes that come in pieces.
class Checksum {
 public:
  void add(const void* data, std::size_t nbytes) { crc_.process_bytes(data, nbytes); }
  std::uint32_t value() const { return crc_.checksum(); }

 private:
  boost::crc_32_type crc_;
};

/// Eight hexadecimal digits.
std::string to_hex(std::uint32_t checksum);

}  // namespace examples::live_checkpoint
