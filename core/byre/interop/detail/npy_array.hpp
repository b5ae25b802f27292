// SPDX-License-Identifier: BSL-1.0
/// The array of a .npy file, wherever that file is: on a disk, in memory, or within an archive. The function that reads
/// a file brings the bytes.
#pragma once

#include <byre/interop/detail/tensor_data.hpp>
#include <byre/interop/npy_header.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace byre::inline v0::detail {

/// The header at the start of a file of `file_nbytes`, whose data end where the file does. Throws FileError.
NpyHeader npy_header_of(std::span<const std::byte> start, std::size_t file_nbytes,
                        const char* source);

/// The array of a file that begins with `start`, with the header at least, in fresh memory. `read_rest(destination,
/// nbytes)` brings what follows `start`, if anything does.
Tensor loaded_npy(std::span<const std::byte> start, std::size_t file_nbytes, const char* source,
                  const std::function<void(std::byte*, std::size_t)>& read_rest);

/// The data that follow. `source`, which outlives them, is named by the FileError for a bool that is neither 0 nor 1.
StoredElements elements_of(const NpyHeader& header, const char* source);
/// The tensor whose elements in the order of the file are `stored`.
Tensor in_order_of(const NpyHeader& header, const Tensor& stored);

/// The part of a file in front of the elements, and their order.
struct NpyFile {
  std::string header;
  bool fortran_order = false;
};

/// Throws DTypeError and InvalidArgument as npy_header does.
NpyFile npy_file_of(const Tensor& tensor, const NpyFormat& format);

/// The elements as `file` has them, for write_elements().
Tensor npy_data_of(const Tensor& tensor, const NpyFile& file, const NpyFormat& format,
                   CallSite site);

}  // namespace byre::inline v0::detail
