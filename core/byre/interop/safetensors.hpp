// SPDX-License-Identifier: BSL-1.0
/// Tensors in .safetensors files, the format of published models: saved, loaded, and mapped so that
/// weights are lazily cloned straight from disk. No code of a file is executed, and every rule of
/// the format is checked.
#pragma once

#include <byre/config.hpp>
#include <byre/files/file_name.hpp>
#include <byre/interop/named_tensors.hpp>
#include <byre/interop/safetensors_header.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace byre::inline v0 {

/// The contents of a file. Files are read strictly: a FileError that names the file is thrown for
/// headers that parse_safetensors_header() rejects, and for a bool that is neither 0 nor 1. The
/// whole header is checked before any data are read. Tensors are contiguous and on the host, each
/// with its own storage. If byre lacks the dtype of some tensors, they are skipped, and a warning
/// names the first. Any thread may call the functions below at any time.
struct SafetensorsFile {
  NamedTensors tensors;                                       ///< in the order of their data
  std::vector<std::pair<std::string, std::string>> metadata;  ///< in the order of the file
  std::vector<SkippedTensor> skipped{};                       ///< of dtypes that byre lacks
};

/// The tensors of a file, in fresh memory. Cost: reads the file once. Throws FileError,
/// OutOfMemory.
BYRE_API SafetensorsFile load_safetensors(FileName name);

/// As load_safetensors(), from a file that is in memory already.
BYRE_API SafetensorsFile read_safetensors(std::span<const std::byte> bytes);

/// The tensors of a file that is mapped once for all of them. Only the header and bools are read;
/// nothing is copied until it is written, and the file never changes. The tensors are lazy clones
/// of one mapping: threads may write different ones at once, and a write copies the pages that it
/// touches, or the whole file if pages are unavailable (docs/parts.md). The file stays mapped as
/// long as one tensor is mapped. Tensors whose data are not aligned to their element size are
/// loaded into fresh memory instead, and on a big-endian machine also those with elements of more
/// than one byte. Throws FileError, OutOfMemory. See Buffer::map_file.
BYRE_API SafetensorsFile map_safetensors(FileName name);

/// Saves tensors of any device and layout by an OutputFile, as save_npy() does: a tensor may be
/// mapped from the file that is replaced. Tensors with larger elements come first, then the order
/// is by name. Data begin at a multiple of 64 bytes, so that they can be mapped. Views are packed,
/// and each of several tensors that share data is saved in full. Metadata keep their order.
///
/// Throws StateError for an uninitialized tensor; InvalidArgument for a name or key that occurs
/// twice or is not UTF-8, for the name __metadata__, and for a header of more than 100 MB;
/// FileError, OutOfMemory. Other readers support complex64 since version 0.7.0 of the reference
/// implementation (2025).
BYRE_API void save_safetensors(FileName name,
                               std::span<const std::pair<std::string, Tensor>> tensors,
                               std::span<const std::pair<std::string, std::string>> metadata = {},
                               CallSite site = CallSite::current());

}  // namespace byre::inline v0
