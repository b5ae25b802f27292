// SPDX-License-Identifier: BSL-1.0
/// Tensors in .safetensors files, the format of published models: read, written, and mapped so that weights are
/// lazily cloned straight from disk. Nothing of a file is run, and no rule of the format is left to trust.
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

/// Files are read strictly: what parse_safetensors_header() refuses, and a bool that is neither 0 nor 1, throws
/// a FileError that names the file. The header is checked as a whole before any data are read. Tensors are
/// contiguous and on the host, each with a storage of its own. If byre lacks the dtype of some, they are skipped,
/// and a warning names the first.
struct SafetensorsFile {
  NamedTensors tensors;                                       ///< in the order of their data
  std::vector<std::pair<std::string, std::string>> metadata;  ///< in that of the file
  std::vector<SkippedTensor> skipped{};                       ///< of dtypes that byre lacks
};

/// The tensors of a file, in fresh memory. Throws FileError, OutOfMemory.
BYRE_API SafetensorsFile load_safetensors(FileName name);

/// The same from a file that is in memory already.
BYRE_API SafetensorsFile read_safetensors(std::span<const std::byte> bytes);

/// The tensors of a file that is mapped, once for all of them. Only the header and bools are read; no byte is
/// copied until it is written, and the file never changes. The tensors are lazy clones of the one mapping: threads
/// may write different ones at once, and a write copies the pages that it touches, or the whole file where pages
/// cannot be had (docs/parts.md). The file stays mapped while one tensor is. Tensors whose data begin at no
/// multiple of the size of their elements are loaded into fresh memory instead, and so are those of more than a
/// byte an element on a big-endian machine. Throws FileError, OutOfMemory. See Buffer::map_file.
BYRE_API SafetensorsFile map_safetensors(FileName name);

/// Writes tensors of any device and layout, by an OutputFile: see save_npy for what that does. A tensor may be
/// mapped from the file that is replaced. Those of larger elements come first, else the order is that of their
/// names, and data begin at a multiple of 64 bytes: so they can be mapped. Views are packed, and tensors that
/// share data get a copy each. Metadata keep their order. Throws StateError for an uninitialized tensor;
/// InvalidArgument for a name or key that is there twice or is not UTF-8, for the name __metadata__, and for a
/// header of more than 100 MB; FileError, OutOfMemory. Readers other than byre know complex64 since version 0.7.0
/// of the reference implementation (2025).
BYRE_API void save_safetensors(FileName name,
                               std::span<const std::pair<std::string, Tensor>> tensors,
                               std::span<const std::pair<std::string, std::string>> metadata = {},
                               CallSite site = CallSite::current());

}  // namespace byre::inline v0
