// SPDX-License-Identifier: BSL-1.0
/// Tensors that tests save, comparisons of saved and read tensors, and files that tests write byte
/// by byte.
#pragma once

#include <byre/interop/named_tensors.hpp>
#include <byre/interop/npy.hpp>
#include <byre/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "support/complaint.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {

inline constexpr bool is_little = std::endian::native == std::endian::little;

inline constexpr DType stored_dtypes[] = {DType::boolean, DType::u8,       DType::i8,  DType::i16,
                                          DType::i32,     DType::i64,      DType::f16, DType::f32,
                                          DType::f64,     DType::complex64};

/// A tensor whose elements are distinct if its dtype has enough values.
inline Tensor counted(const Dims& sizes, DType dtype) {
  Tensor tensor = Tensor::empty(sizes, dtype);
  auto* const bytes = static_cast<unsigned char*>(tensor.mutable_raw_data());
  for (std::size_t at = 0; at < tensor.nbytes(); ++at) {
    bytes[at] =
        static_cast<unsigned char>(dtype == DType::boolean ? at % 3 == 0 : at * 7 + at / 256);
  }
  return tensor;
}

/// The bytes of the elements in row-major order.
inline std::string packed_bytes_of(const Tensor& tensor) {
  const Tensor packed = tensor.contiguous();
  return packed.nbytes() == 0
             ? std::string()
             : std::string(static_cast<const char*>(packed.raw_data()), packed.nbytes());
}

inline void expect_same(const Tensor& tensor, const Tensor& expected) {
  EXPECT_EQ(tensor.dtype(), expected.dtype());
  EXPECT_EQ(to_string(tensor.sizes()), to_string(expected.sizes()));
  EXPECT_EQ(packed_bytes_of(tensor), packed_bytes_of(expected));
}

inline void expect_same_tensors(const NamedTensors& found, const NamedTensors& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t at = 0; at < found.size(); ++at) {
    EXPECT_EQ(found[at].first, expected[at].first);
    expect_same(found[at].second, expected[at].second);
  }
}

/// A number as bytes, the least significant first.
inline std::string little_endian(std::uint64_t number, std::size_t nbytes) {
  std::string bytes;
  for (std::size_t at = 0; at < nbytes; ++at) {
    bytes += static_cast<char>(number >> 8 * at & 0xFF);
  }
  return bytes;
}

/// Reads a file from memory of exactly its size: AddressSanitizer would report a read beyond it.
template <class Contents>
Contents read_exact(Contents (*read)(std::span<const std::byte>), const std::string& file) {
  const auto exact = std::make_unique<std::byte[]>(file.size());
  std::memcpy(exact.get(), file.data(), file.size());
  return read({exact.get(), file.size()});
}

}  // namespace byre::test
