// SPDX-License-Identifier: BSL-1.0
/// Tensors in .npy files, NumPy's format for one array: read, written, and mapped so that weights
/// are lazily cloned straight from disk. Another format is another such header, over the same
/// InputFile, OutputFile and Buffer::map_file.
#pragma once

#include <byre/config.hpp>
#include <byre/files/file_name.hpp>
#include <byre/interop/npy_header.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <span>

namespace byre::inline v0 {

/// Files are read strictly: bytes that are missing or left over, or a bool that is neither 0 nor 1, throw
/// a FileError that names the file. An array in Fortran order becomes a contiguous tensor, transposed.
/// Tensors are on the host.

/// The array of a file, in fresh memory, whatever its byte order. Throws FileError, OutOfMemory.
BYRE_API Tensor load_npy(FileName name);

/// The same from a file that is in memory already.
BYRE_API Tensor read_npy(std::span<const std::byte> bytes);

/// The array of a file that is mapped. No byte is copied until it is written, and the file never
/// changes. Only the header and bools are read. Throws FileError, also for data in another byte order or
/// not aligned to their size (load_npy reads those), OutOfMemory. See Buffer::map_file.
BYRE_API Tensor map_npy(FileName name);

/// Writes the tensor from any device, by an OutputFile, which see: the file appears complete or not at all, and may be
/// the one that the tensor is mapped from. The order is Fortran's if the tensor is the transpose of a contiguous one,
/// else C's. Throws StateError for an uninitialized tensor,
/// DTypeError for bf16, which the format does not have, InvalidArgument for a version that does not exist,
/// FileError, OutOfMemory. NumPy reads more than 32 dimensions since its version 2.
BYRE_API void save_npy(FileName name, const Tensor& tensor, const NpyFormat& format = {},
                       CallSite site = CallSite::current());

}  // namespace byre::inline v0
