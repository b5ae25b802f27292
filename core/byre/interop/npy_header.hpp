// SPDX-License-Identifier: BSL-1.0
/// The header of a .npy file: what its elements are, and where they begin. Pure functions of bytes;
/// npy.hpp has those that read and write files.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/dims.hpp>
#include <byre/tensor/dtype.hpp>

#include <bit>
#include <cstddef>
#include <span>
#include <string>

namespace byre::inline v0 {

/// How a file is written, where the format leaves a choice.
struct NpyFormat {
  std::endian byte_order = std::endian::native;
  unsigned version = 1;  ///< 1, 2 or 3, which differ in nothing that a tensor needs
};

struct NpyHeader {
  DType dtype = DType::uninitialized;
  std::endian byte_order = std::endian::native;
  bool fortran_order = false;  ///< the first dimension fastest
  Dims sizes;
  std::size_t data_offset = 0;  ///< in bytes, from the start of the file
  std::size_t data_nbytes = 0;  ///< of all elements, in memory and in the file

  friend bool operator==(const NpyHeader&, const NpyHeader&) = default;
};

/// No header is longer, so that this much of a file is enough to parse it.
inline constexpr std::size_t npy_header_max_nbytes = std::size_t{1} << 16;

/// The header that `bytes` begin with, of versions 1.0, 2.0 and 3.0. Whether the data follow it is
/// not looked at. Throws FileError, which names `source`, for anything else, and for elements that
/// no dtype of byre's stands for.
///
/// Source: the documentation of numpy.lib.format.
BYRE_API NpyHeader parse_npy_header(std::span<const std::byte> bytes,
                                    const char* source = "memory");

/// The header; data that follow it begin at a multiple of 64 bytes. Throws DTypeError for a dtype the
/// format does not have, ShapeError for more than max_ndim dimensions, InvalidArgument for a version there
/// is not.
BYRE_API std::string npy_header(DType dtype, const Dims& sizes, bool fortran_order = false,
                                const NpyFormat& format = {});
}  // namespace byre::inline v0
