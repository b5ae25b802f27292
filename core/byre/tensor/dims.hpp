// SPDX-License-Identifier: BSL-1.0
/// Sizes, strides and axes: short lists of integers, in place up to five of them. Their products
/// are computed without overflow, or not at all.
#pragma once

#include <byre/error/error.hpp>

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace byre::inline v0 {

/// One number for each dimension; {2, 3} is written as it is read.
class Dims : public boost::container::small_vector<std::int64_t, 5> {
 public:
  using small_vector::small_vector;

  operator std::span<const std::int64_t>() const noexcept { return {data(), size()}; }
};

/// Sizes, strides, axes or indices that do not fit the tensor, or each other.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// "[2, 3]".
std::string to_string(std::span<const std::int64_t> dims);

namespace detail {

/// The product of sizes, none of them negative. Throws ShapeError, naming `operation`, where the
/// product of those that are not 0 overflows: strides are such products too.
std::int64_t element_count(std::span<const std::int64_t> sizes, const char* operation);

/// Bytes of so many elements of `itemsize` bytes. Throws ShapeError where it overflows.
std::size_t byte_count(std::int64_t numel, std::size_t itemsize, const char* operation);

/// `axis`, counted from the end if it is negative. Throws ShapeError unless -ndim <= axis < ndim; of
/// no dimensions at all, -1 and 0 are taken for an axis as if there was one.
std::size_t wrap_axis(std::int64_t axis, std::size_t ndim, const char* operation);

}  // namespace detail
}  // namespace byre::inline v0
