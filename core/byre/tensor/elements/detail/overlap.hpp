// SPDX-License-Identifier: BSL-1.0
/// Whether two views use the same bytes: what decides which operations may write in place.
#pragma once

#include <byre/config.hpp>

#include <byre/tensor/layout.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline v0::detail {

/// `partial` is also the answer where that is in doubt. `same`: element for element, so that an
/// element may be written once its counterpart was read.
enum class Overlap : std::uint8_t { none, same, partial };

/// A view by its first byte and its strides in bytes. Addresses, so that memory that was borrowed
/// twice is known to be the same.
struct Extent {
  std::uint64_t first;  ///< 64 bits on every machine, so that a distance has a sign
  Layout layout;
  std::int64_t itemsize;
};

/// Views that overlap are never `none`. Views of one dense tensor that share no byte are `none` if they
/// were selected or sliced along one dimension; with a step, if both have the same step and it divides
/// the size of that dimension.
BYRE_API Overlap overlap_of(const Extent& a, const Extent& b);

/// Throws ShapeError, which names `operation`, if elements of `output` share memory with each other.
BYRE_API void expect_distinct_elements(const Tensor& output, const char* operation);

/// Whether `output` may be written while `input`, of the same sizes, is read; throws ShapeError if
/// not. Both have memory on one device, or no elements.
Overlap expect_no_partial_overlap(const Tensor& output, const Tensor& input, const Layout& expanded,
                                  const char* operation);

}  // namespace byre::inline v0::detail
