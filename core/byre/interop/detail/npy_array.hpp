// SPDX-License-Identifier: BSL-1.0
/// The array of a .npy file, wherever that file is: on a disk, in memory, or within an archive. What reads one
/// brings the bytes, and this makes tensors of them, or of tensors what is written.
#pragma once

#include <byre/interop/npy_header.hpp>
#include <byre/storage/storage.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace byre::inline v0::detail {

/// The header at the start of a file of `file_nbytes`, whose data end where the file does. Throws FileError.
NpyHeader npy_header_of(std::span<const std::byte> start, std::size_t file_nbytes,
                        const char* source);

/// A tensor in fresh memory whose bytes, in the order and the byte order of the file, are still to be written.
Tensor unfilled_npy(const NpyHeader& header);
/// Where they are to be written. There are some.
std::byte* npy_bytes(Tensor& unfilled);
/// The tensor, once they are. Throws FileError for a bool that is neither 0 nor 1.
Tensor filled_npy(const NpyHeader& header, const char* source, Tensor unfilled);

/// A tensor whose data `fill(destination, nbytes)` brings, if there are any.
template <class Fill>
Tensor npy_tensor(const NpyHeader& header, const char* source, const Fill& fill) {
  Tensor stored = unfilled_npy(header);
  if (header.data_nbytes != 0) {
    fill(npy_bytes(stored), header.data_nbytes);
  }
  return filled_npy(header, source, std::move(stored));
}

/// Whether elements can be used where they are in a file that is mapped.
enum class NpyPlace { usable, of_other_byte_order, misaligned };
/// Of data that begin at `data_offset` of the mapped file.
NpyPlace place_of_npy(const NpyHeader& header, std::size_t data_offset);

/// A view of data that are usable at `data_offset` of a mapped file. Throws FileError for a bool that is neither
/// 0 nor 1.
Tensor npy_in_place(const NpyHeader& header, const char* source, Storage file,
                    std::size_t data_offset);

/// What a file of a tensor has: its header, and elements that are contiguous on the host.
struct NpyFile {
  std::string header;
  bool fortran_order = false;
};

/// Throws DTypeError and InvalidArgument as npy_header does.
NpyFile npy_file_of(const Tensor& tensor, const NpyFormat& format);

/// The elements as `file` has them, contiguous on the host; no copy where there need be none, of memory that is
/// borrowed as well.
Tensor npy_data_of(const Tensor& tensor, const NpyFile& file, const NpyFormat& format,
                   CallSite site);

}  // namespace byre::inline v0::detail
