// SPDX-License-Identifier: BSL-1.0
/// The .npy file format, version 1.0, as far as a table of floats needs it, and the CRC-32 that
/// tells two such files apart. numpy.load() reads the files.
#pragma once

#include <boost/crc.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

namespace live_checkpoint {

/// What stands before rows * columns floats in C order, in this machine's byte order.
std::string npy_header(std::uint64_t rows, std::uint64_t columns);

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

}  // namespace live_checkpoint
