// SPDX-License-Identifier: BSL-1.0
/// The header of a .safetensors file: what its tensors are, and where their data lie. Pure functions of
/// bytes; safetensors.hpp has those that read and write files.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace byre::inline v0 {

struct SafetensorsEntry {
  std::string name;  ///< UTF-8
  DType dtype = DType::uninitialized;
  Dims sizes;
  std::size_t offset = 0;  ///< of its data, in bytes from the start of the file
  std::size_t nbytes = 0;  ///< of its data, in memory and in the file

  friend bool operator==(const SafetensorsEntry&, const SafetensorsEntry&) = default;
};

/// A tensor whose dtype byre lacks, as U16 or F8_E4M3. Its data can be read otherwise.
struct SkippedTensor {
  std::string name;   ///< UTF-8
  std::string dtype;  ///< as the file has it
  Dims sizes;
  std::size_t offset = 0;  ///< of its data, in bytes from the start of the file
  std::size_t nbytes =
      0;  ///< of its data, as the file says: sizes and dtype are not checked against it

  friend bool operator==(const SkippedTensor&, const SkippedTensor&) = default;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;                      ///< in the order of their data
  std::vector<SkippedTensor> skipped;                         ///< in the order of their data
  std::vector<std::pair<std::string, std::string>> metadata;  ///< in that of the file

  friend bool operator==(const SafetensorsHeader&, const SafetensorsHeader&) = default;
};

/// No header is longer: a limit of the format.
inline constexpr std::size_t safetensors_header_max_nbytes = 100'000'000;

/// Where the header ends and the data begin, in bytes from the start of a file of `file_nbytes`. The first 8
/// bytes say so. Throws FileError, which names `source`, if the header would be longer than the file, or than
/// the format allows; InvalidArgument if `start` has not these 8 bytes.
BYRE_API std::size_t safetensors_data_offset(std::span<const std::byte> start,
                                             std::size_t file_nbytes,
                                             const char* source = "memory");

/// The header that `start` begins with, of a file of `file_nbytes`. Every rule of the format that needs no
/// data is checked:
///
/// - the header is a JSON object; every key is the format's, and there once,
/// - sizes and offsets are whole numbers, whose products and sums do not overflow,
/// - the sizes of a tensor take just the bytes that it has, unless byre lacks its dtype,
/// - the data of tensors cover all that follows the header, without holes, and none overlap.
///
/// As in the reference implementation, white space may precede the header, and "__metadata__": null counts as no metadata.
/// Tensors of other dtypes than byre's are skipped.
///
/// Throws FileError, which names `source`, for anything else and for more than max_ndim dimensions; InvalidArgument if `start` ends in front of
/// safetensors_data_offset(); OutOfMemory.
///
/// Source: the format's description, and its reference implementation 0.7.0 (2025), the first that has C64.
BYRE_API SafetensorsHeader parse_safetensors_header(std::span<const std::byte> start,
                                                    std::size_t file_nbytes,
                                                    const char* source = "memory");

}  // namespace byre::inline v0
