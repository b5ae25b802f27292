// SPDX-License-Identifier: BSL-1.0
/// .safetensors files that tests write by hand, and whether what is read of them is what was saved.
#pragma once

#include <byre/interop/safetensors.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "named_tensors.hpp"

namespace byre::test {

using Notes = std::vector<std::pair<std::string, std::string>>;

/// The length that a file begins with.
inline std::string length_of_header(std::uint64_t length) {
  std::string bytes;
  for (unsigned at = 0; at < 8; ++at) {
    bytes += static_cast<char>(length >> 8 * at & 0xFF);
  }
  return bytes;
}

inline std::string model_of(const std::string& header, const std::string& data = "") {
  return length_of_header(header.size()) + header + data;
}

/// `"name":{"dtype":...}`
inline std::string entry_of(const std::string& name, const std::string& dtype,
                            const std::string& shape, const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

/// Reads a file from memory of just its size, beyond which AddressSanitizer would see a read.
inline SafetensorsFile read_model(const std::string& file) {
  const auto exact = std::make_unique_for_overwrite<std::byte[]>(file.size());
  std::memcpy(exact.get(), file.data(), file.size());
  return read_safetensors({exact.get(), file.size()});
}

/// From each way of reading.
inline void expect_model(const std::filesystem::path& path, const NamedTensors& tensors,
                         const Notes& metadata = {}) {
  for (const SafetensorsFile& file :
       {load_safetensors(path), map_safetensors(path), read_model(read_file(path))}) {
    expect_same_tensors(file.tensors, tensors);
    EXPECT_EQ(file.metadata, metadata);
  }
}

}  // namespace byre::test
