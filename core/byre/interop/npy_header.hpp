// SPDX-License-Identifier: BSL-1.0
/// The header of a .npy file: the type, order and sizes of its elements, and where they begin. The
/// functions here are pure functions of bytes; npy.hpp reads and writes files.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>

#include <bit>
#include <cstddef>
#include <span>
#include <string>

namespace byre::inline BYRE_ABI {

/// The options of the format when a file is written.
struct NpyFormat {
  std::endian byte_order = std::endian::native;
  unsigned version = 1;  ///< 1, 2 or 3: equivalent for tensors
};

struct NpyHeader {
  DType dtype = DType::uninitialized;
  std::endian byte_order = std::endian::native;
  bool fortran_order = false;  ///< the first dimension varies fastest
  Dims sizes;
  std::size_t data_offset = 0;  ///< in bytes, from the start of the file
  std::size_t data_nbytes = 0;  ///< size of all elements, in memory and in the file

  friend bool operator==(const NpyHeader&, const NpyHeader&) = default;
};

/// The largest size of a header: this much of a file is enough to parse it.
inline constexpr std::size_t npy_header_max_nbytes = std::size_t{1} << 16;

/// Parses the header, of version 1.0, 2.0 or 3.0, at the start of `bytes`. Does not check whether
/// the data follow. Throws FileError, which names `source`, if the header is invalid or no dtype
/// matches its elements, or OutOfMemory.
///
/// Source: the documentation of numpy.lib.format.
BYRE_API NpyHeader parse_npy_header(std::span<const std::byte> bytes,
                                    const char* source = "memory");

/// The header for these elements. It is padded so that the data after it begin at a multiple of 64
/// bytes. Throws DTypeError if the format lacks the dtype, ShapeError for more than max_ndim
/// dimensions, InvalidArgument for an unsupported version, or OutOfMemory.
BYRE_API std::string npy_header(DType dtype, const Dims& sizes, bool fortran_order = false,
                                const NpyFormat& format = {});
}  // namespace byre::inline BYRE_ABI
