// SPDX-License-Identifier: BSL-1.0
/// Tensors in .safetensors files, the format of published models: saves them, loads them, and maps
/// them so that weights are lazily cloned straight from disk. Reading a file never executes code
/// from it, and every rule of the format is checked.
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

namespace byre::inline BYRE_ABI {

/// The contents of a file. Files are read strictly: a FileError that names the file is thrown if
/// parse_safetensors_header() rejects the header, or if a bool is neither 0 nor 1. The whole header
/// is checked before any data are read. Tensors are contiguous and on the host, each with its own
/// storage. If byre lacks the dtype of some tensors, they are skipped, and a warning names the
/// first. Any thread may call the functions below at any time.
struct SafetensorsFile {
  NamedTensors tensors;                                       ///< in the order of their data
  std::vector<std::pair<std::string, std::string>> metadata;  ///< in the order of the file
  std::vector<SkippedTensor> skipped{};                       ///< of dtypes that byre lacks
};

/// The tensors of a file, in fresh memory. Throws FileError if the file cannot be read or is
/// rejected, or OutOfMemory. Cost: reads the file once.
BYRE_API SafetensorsFile load_safetensors(FileName name);

/// As load_safetensors(), but reads a file that is in memory already.
BYRE_API SafetensorsFile read_safetensors(std::span<const std::byte> bytes);

/// The tensors of a file that is mapped into memory once for all of them. Nothing is copied until a
/// tensor is written, and writes never change the file; Buffer::map_file documents mapped memory.
/// The tensors are lazy clones of one mapping: threads may write different tensors at once. A write
/// copies the pages that it touches, or the whole file if the system does not support that
/// (docs/parts.md). The file stays mapped as long as one tensor uses the mapping. A tensor is
/// loaded into fresh memory instead if its data are not aligned to its element size or, on a
/// big-endian machine, if its elements have more than one byte. Throws the errors of
/// load_safetensors(). Cost: reads only the header and bools.
BYRE_API SafetensorsFile map_safetensors(FileName name);

/// Saves tensors of any device and layout by an OutputFile, as save_npy() does: a tensor may be
/// mapped from the file that is replaced. Tensors with larger elements come first; tensors with
/// elements of equal size are ordered by dtype, then by name. The data begin at a multiple of 64
/// bytes, so that they can be mapped. A view is saved as a contiguous tensor, and each of several
/// tensors that share data is saved in full. Metadata are saved in the order given.
///
/// Throws StateError for an uninitialized tensor; InvalidArgument if a name or key occurs twice or
/// is not UTF-8, for the name __metadata__, or if the header exceeds 100 MB; FileError if the file
/// cannot be written; or OutOfMemory. The reference implementation reads complex64 since version
/// 0.7.0 (2025).
BYRE_API void save_safetensors(FileName name,
                               std::span<const std::pair<std::string, Tensor>> tensors,
                               std::span<const std::pair<std::string, std::string>> metadata = {},
                               CallSite site = CallSite::current());

}  // namespace byre::inline BYRE_ABI
