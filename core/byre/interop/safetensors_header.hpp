// SPDX-License-Identifier: BSL-1.0
/// The header of a .safetensors file: its tensors, and where their data are. The functions here are
/// pure functions of bytes; safetensors.hpp reads and writes files.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI {

struct SafetensorsEntry {
  std::string name;  ///< UTF-8
  DType dtype = DType::uninitialized;
  Dims sizes;
  std::size_t offset = 0;  ///< of its data, in bytes from the start of the file
  std::size_t nbytes = 0;  ///< of its data, in memory and in the file

  friend bool operator==(const SafetensorsEntry&, const SafetensorsEntry&) = default;
};

/// A tensor whose dtype byre lacks, such as U16 or F8_E4M3. A program can read the data by itself,
/// from `offset` on.
struct SkippedTensor {
  std::string name;   ///< UTF-8
  std::string dtype;  ///< the code in the file
  Dims sizes;
  std::size_t offset = 0;  ///< of its data, in bytes from the start of the file
  std::size_t nbytes = 0;  ///< of its data, by its offsets; not checked against sizes and dtype

  friend bool operator==(const SkippedTensor&, const SkippedTensor&) = default;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;                      ///< in the order of their data
  std::vector<SkippedTensor> skipped;                         ///< in the order of their data
  std::vector<std::pair<std::string, std::string>> metadata;  ///< in the order of the file

  friend bool operator==(const SafetensorsHeader&, const SafetensorsHeader&) = default;
};

/// The largest header that the format allows.
inline constexpr std::size_t safetensors_header_max_nbytes = 100'000'000;

/// The offset of the data, where the header ends, in bytes from the start of a file of
/// `file_nbytes`. Reads the first 8 bytes of `start`. Throws FileError, which names `source`, if
/// the header would be longer than the file or than the format allows; InvalidArgument if `start`
/// has fewer than 8 bytes.
BYRE_API std::size_t safetensors_data_offset(std::span<const std::byte> start,
                                             std::size_t file_nbytes,
                                             const char* source = "memory");

/// Parses the header at the start of `start`, of a file of `file_nbytes`. Checks every rule of the
/// format that needs no data:
///
/// - the header is a JSON object; every key is a key of the format and occurs once,
/// - sizes and offsets are whole numbers, and their products and sums do not overflow,
/// - the sizes of a tensor match the size of its data, unless byre lacks its dtype,
/// - the data of tensors cover all bytes after the header, without gaps or overlaps.
///
/// As in the reference implementation, white space may precede the header, and "__metadata__": null
/// counts as no metadata. Tensors whose dtype byre lacks are skipped.
///
/// Throws FileError, which names `source`, if the header breaks a rule or a tensor has more than
/// max_ndim dimensions; InvalidArgument if `start` ends before safetensors_data_offset(); or
/// OutOfMemory.
///
/// Source: the format's description, and its reference implementation 0.7.0 (2025), the first
/// version with C64.
BYRE_API SafetensorsHeader parse_safetensors_header(std::span<const std::byte> start,
                                                    std::size_t file_nbytes,
                                                    const char* source = "memory");

}  // namespace byre::inline BYRE_ABI
