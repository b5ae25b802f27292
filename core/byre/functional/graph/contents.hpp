// SPDX-License-Identifier: BSL-1.0
/// The elements of a tensor as one word of text, byte for byte.
#pragma once

#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace byre::inline v0::functional::detail {

/// "x0000803f" of a 1.0 in f32: each element in turn, the least byte first.
std::string contents_of(const Tensor& tensor);
/// How long that is for so many bytes.
constexpr std::size_t length_of_contents(std::size_t nbytes) noexcept {
  return 1 + 2 * nbytes;
}

/// The tensor again, from a text of that length. Throws InvalidArgument for what is no such text,
/// DTypeError for bools that are neither 0 nor 1, OutOfMemory.
Tensor tensor_of_contents(std::string_view contents, const Dims& sizes, DType dtype);

}  // namespace byre::inline v0::functional::detail
