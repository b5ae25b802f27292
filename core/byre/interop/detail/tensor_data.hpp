// SPDX-License-Identifier: BSL-1.0
/// What every format of files asks of the data of tensors: that they can be written in one piece, and that
/// what was read can be an element.
#pragma once

#include <byre/error/error.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <optional>
#include <span>

namespace byre::inline v0::detail {

/// Throws StateError, which names `operation`, for a tensor that has no dtype or nothing to write.
void expect_initialized(const Tensor& tensor, const char* operation);

/// The same elements, contiguous and in memory of the host. No copy where there need be none, of memory that
/// is borrowed as well.
Tensor dense_on_host(const Tensor& tensor, CallSite site);

/// What is wrong with data that C++ cannot read as elements of `dtype`: a bool that is neither 0 nor 1.
std::optional<Text> odd_bool_in(std::span<const std::byte> data, DType dtype);

/// Numbers of the other byte order. A complex one is two.
void swap_bytes(std::byte* data, std::size_t nbytes, DType dtype);

}  // namespace byre::inline v0::detail
