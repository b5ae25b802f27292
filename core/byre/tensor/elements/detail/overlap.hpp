// SPDX-License-Identifier: BSL-1.0
/// Whether two views use the same bytes: determines which operations may write in place.
#pragma once

#include <byre/config.hpp>

#include <byre/tensor/layout.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline v0::detail {

/// `same`: the views are equal, element for element, so that an element may be written after its
/// counterpart was read. `partial` also includes cases that are undecided.
enum class Overlap : std::uint8_t { none, same, partial };

/// A view by the address of its first byte, its layout and the size of its elements. Compares
/// addresses instead of storages, so that two storages that borrow the same memory are found to
/// overlap.
struct Extent {
  std::uint64_t first;  ///< 64 bits on every machine, so that a distance has a sign
  Layout layout;
  std::int64_t itemsize;
};

/// Never returns `none` for views that overlap. Returns `none` for views of one dense tensor that
/// share no byte, if they were selected or sliced along one dimension; slices with a step must have
/// equal steps that divide the size of the dimension.
BYRE_API Overlap overlap_of(const Extent& a, const Extent& b);

/// Throws ShapeError, which names `operation`, if elements of `output` share memory with each
/// other.
BYRE_API void expect_distinct_elements(const Tensor& output, const char* operation);

/// Throws ShapeError if `input`, with the layout `expanded` of the sizes of `output`, overlaps
/// `output` in part, so that it would be read after it is written. Otherwise returns their overlap.
/// Requires that both have memory or no elements.
Overlap expect_no_partial_overlap(const Tensor& output, const Tensor& input, const Layout& expanded,
                                  const char* operation);

}  // namespace byre::inline v0::detail
