// SPDX-License-Identifier: BSL-1.0
/// Names, contents and checksums of snapshot files.
#pragma once

#include "failure.hpp"
#include "format.hpp"

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace examples::live_checkpoint {

namespace fs = std::filesystem;

inline constexpr const char* full_extension = ".npy";
inline constexpr const char* delta_extension = ".delta";

/// The CRC-32 of zip and gzip, computed incrementally.
class Checksum {
 public:
  void process_bytes(const void* data, std::size_t nbytes) {
    value_ = ::crc32_z(value_, static_cast<const Bytef*>(data), nbytes);
  }
  std::uint32_t checksum() const { return static_cast<std::uint32_t>(value_); }

 private:
  uLong value_ = 0;
};

/// The path of a snapshot's file: `directory`, "token-000000001000" and the extension.
inline fs::path snapshot_file(const fs::path& directory, std::uint64_t token,
                              const char* extension) {
  return directory / format("token-%012llu%s", static_cast<unsigned long long>(token), extension);
}

/// Reads all bytes of the file. Throws Failure.
inline std::vector<char> read_file(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t nbytes = fs::file_size(path, error);
  std::vector<char> bytes(error ? 0 : nbytes);
  std::ifstream file(path, std::ios::binary);
  if (error || !file.read(bytes.data(), static_cast<std::streamsize>(nbytes))) {
    throw Failure("Cannot read " + path.string() + ".");
  }
  return bytes;
}

}  // namespace examples::live_checkpoint
