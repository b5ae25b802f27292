// SPDX-License-Identifier: BSL-1.0
/// Tensors in .npy files, NumPy's format for one array: read, written, and mapped so that weights
/// are lazily cloned straight from disk. Another format is another such header, over the same
/// InputFile, OutputFile and Buffer::map_file.
#pragma once

#include <byre/interop/npy_header.hpp>
#include <byre/storage/origins.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <span>

namespace byre::inline v0 {

/// What is not quite as it should be, bytes that are missing or left over, or a bool that is
/// neither 0 nor 1, is refused with a FileError that names the file. An array in Fortran order
/// becomes what it is: a contiguous tensor, transposed. Tensors are on the host.

/// The array of a file, in fresh memory, whatever its byte order. Throws FileError, OutOfMemory.
Tensor load_npy(FileName name);

/// The same from a file that is in memory already.
Tensor read_npy(std::span<const std::byte> bytes);

/// The array of a file that is mapped: no byte is copied until it is written, and the file never
/// changes. Nor is a byte read, but of bools, which are looked at. Throws FileError, for data in
/// another byte order or not aligned to their size as well (load_npy reads those), OutOfMemory. See
/// Buffer::map_file.
Tensor map_npy(FileName name);

/// Writes the tensor, from whatever device, in place of a file that is there, with its permissions,
/// or of the one that a symbolic link leads to: that may be the one it is mapped from, and stays as it
/// was if this fails. In Fortran order if the tensor is contiguous but for being transposed, else in
/// C order. Throws StateError for an uninitialized tensor, DTypeError for bf16, which the format does
/// not have, InvalidArgument for a version there is not, FileError, OutOfMemory.
void save_npy(FileName name, const Tensor& tensor, const NpyFormat& format = {},
              CallSite site = CallSite::current());

}  // namespace byre::inline v0
