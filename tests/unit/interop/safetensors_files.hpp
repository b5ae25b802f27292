// SPDX-License-Identifier: BSL-1.0
/// .safetensors files that tests write by hand, and comparisons of read tensors with saved ones.
#pragma once

#include <byre/interop/safetensors.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "stored_tensors.hpp"

namespace byre::test {

using Notes = std::vector<std::pair<std::string, std::string>>;

inline std::string model_of(const std::string& header, const std::string& data = "") {
  return little_endian(header.size(), 8) + header + data;
}

/// A JSON entry of a tensor: `"name":{"dtype":...}`
inline std::string entry_of(const std::string& name, const std::string& dtype,
                            const std::string& shape, const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

inline SafetensorsFile read_model(const std::string& file) {
  return read_exact(read_safetensors, file);
}

/// Expects that each way of reading returns these tensors and metadata.
inline void expect_model(const std::filesystem::path& path, const NamedTensors& tensors,
                         const Notes& metadata = {}) {
  for (const SafetensorsFile& file :
       {load_safetensors(path), map_safetensors(path), read_model(read_file(path))}) {
    expect_same_tensors(file.tensors, tensors);
    EXPECT_EQ(file.metadata, metadata);
  }
}

}  // namespace byre::test
