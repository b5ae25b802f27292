// SPDX-License-Identifier: BSL-1.0
/// Tensors in .npy files, NumPy's format for one array: saved, loaded, and mapped so that weights
/// are lazily cloned straight from disk. A header for another format can be built like this one,
/// over InputFile, OutputFile and Buffer::map_file.
#pragma once

#include <byre/config.hpp>
#include <byre/files/file_name.hpp>
#include <byre/interop/npy_header.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <span>

namespace byre::inline v0 {

/// Files are read strictly: if bytes are missing or left over, or a bool is neither 0 nor 1, a
/// FileError that names the file is thrown. An array in Fortran order becomes the transpose of a
/// contiguous tensor. Tensors are on the host. Any thread may call these functions at any time.

/// The array of a file of either byte order, in fresh memory. Cost: reads the file once. Throws
/// FileError, OutOfMemory.
BYRE_API Tensor load_npy(FileName name);

/// As load_npy(), from a file that is in memory already.
BYRE_API Tensor read_npy(std::span<const std::byte> bytes);

/// The array of a mapped file. Nothing is copied until the tensor is written, and the file never
/// changes. Cost: reads only the header, and bools. Throws FileError, also for data in another byte
/// order or not aligned to the element size, which load_npy() reads; OutOfMemory. See
/// Buffer::map_file.
BYRE_API Tensor map_npy(FileName name);

/// Saves a tensor of any device by an OutputFile: the file appears complete or not at all, and may
/// be the one that the tensor is mapped from. Uses Fortran order if the tensor is the transpose of
/// a contiguous one, else C order. Copies the elements if they are not contiguous, not on the host,
/// or in another byte order.
///
/// Throws StateError for an uninitialized tensor, DTypeError for bf16, which the format lacks,
/// InvalidArgument for an unsupported version, FileError, OutOfMemory. NumPy reads more than 32
/// dimensions since its version 2.
BYRE_API void save_npy(FileName name, const Tensor& tensor, const NpyFormat& format = {},
                       CallSite site = CallSite::current());

}  // namespace byre::inline v0
