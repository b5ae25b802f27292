// SPDX-License-Identifier: BSL-1.0
/// The array of a .npy file that is on disk, in memory, or in an archive.
#pragma once

#include <byre/interop/detail/tensor_data.hpp>
#include <byre/interop/npy_header.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace byre::inline BYRE_ABI::detail {

/// Parses the header at the start of a file of `file_nbytes`, and checks that the data fill the
/// rest. Throws FileError if the header is invalid or the data have another size.
NpyHeader npy_header_of(std::span<const std::byte> start, std::size_t file_nbytes,
                        const char* source);

/// The array, in fresh memory, of a file that begins with the bytes `start`, which contain at least
/// the header. Calls `read_rest(destination, nbytes)` to read the data after `start`, if there are
/// any.
Tensor loaded_npy(std::span<const std::byte> start, std::size_t file_nbytes, const char* source,
                  const std::function<void(std::byte*, std::size_t)>& read_rest);

/// Describes the elements. A FileError about a bool that is neither 0 nor 1 names `source`, which
/// must outlive the result.
StoredElements elements_of(const NpyHeader& header, const char* source);
/// The tensor whose elements, in the order of the file, are `stored`.
Tensor in_array_order(const NpyHeader& header, const Tensor& stored);

/// The bytes of a file before the elements, and the order of the elements.
struct NpyEncoding {
  std::string header;
  bool fortran_order = false;
};

/// Throws the errors of npy_header().
NpyEncoding npy_encoding_of(const Tensor& tensor, const NpyFormat& format);

/// The elements in the order of `file`, for write_elements().
Tensor elements_to_save(const Tensor& tensor, const NpyEncoding& file, const NpyFormat& format,
                        CallSite site);

}  // namespace byre::inline BYRE_ABI::detail
