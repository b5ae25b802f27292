// SPDX-License-Identifier: BSL-1.0
/// Tensors in .npy files, NumPy's format for one array: saves them, loads them, and maps them so
/// that weights are lazily cloned straight from disk. Support for another file format can be built
/// like this one, with InputFile, OutputFile and Buffer::map_file.
#pragma once

#include <byre/config.hpp>
#include <byre/files/file_name.hpp>
#include <byre/interop/npy_header.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <span>

namespace byre::inline BYRE_ABI {

/// Files are read strictly: if bytes are missing or left over, or a bool is neither 0 nor 1, a
/// FileError that names the file is thrown. An array in Fortran order becomes the transpose of a
/// contiguous tensor. Tensors are on the host. Any thread may call these functions at any time.

/// The array of a file of either byte order, in fresh memory. Throws FileError if the file cannot
/// be read or is rejected, or OutOfMemory. Cost: reads the file once.
BYRE_API Tensor load_npy(FileName name);

/// As load_npy(), but reads a file that is in memory already.
BYRE_API Tensor read_npy(std::span<const std::byte> bytes);

/// The array of a file that is mapped into memory. Nothing is copied until the tensor is written,
/// and writes never change the file; Buffer::map_file documents mapped memory. Throws the errors of
/// load_npy(), and FileError if the data are in another byte order or not aligned to the element
/// size; call load_npy() for such files. Cost: reads only the header, and bools.
BYRE_API Tensor map_npy(FileName name);

/// Saves a tensor of any device by an OutputFile: the file appears complete or not at all, and may
/// be the file from which the tensor is mapped. Uses Fortran order if the tensor is the transpose
/// of a contiguous one, else C order.
///
/// Throws StateError for an uninitialized tensor, DTypeError for bf16, which the format lacks,
/// InvalidArgument for an unsupported version, FileError if the file cannot be written, or
/// OutOfMemory. Cost: copies the elements if they are in neither order, not on the host, or not in
/// the byte order of `format`. NumPy reads arrays of more than 32 dimensions since version 2.
BYRE_API void save_npy(FileName name, const Tensor& tensor, const NpyFormat& format = {},
                       CallSite site = CallSite::current());

}  // namespace byre::inline BYRE_ABI
