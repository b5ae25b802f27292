// SPDX-License-Identifier: BSL-1.0
/// Tests whether two views have bytes in common, to decide which operations may write in place.
#pragma once

#include <byre/config.hpp>

#include <byre/tensor/layout.hpp>
#include <byre/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>

namespace byre::inline BYRE_ABI::detail {

/// `same`: the elements of the two views are the same, in the same order, so that an operation may
/// write each element after it has read it. `partial` includes the cases that overlap_of() cannot
/// decide.
enum class Overlap : std::uint8_t { none, same, partial };

/// A view, described by the address of its first byte, its layout and the size of its elements.
/// Views are compared by address and not by storage, because two storages may borrow the same
/// memory.
struct Extent {
  std::uint64_t first;  ///< 64 bits on every machine; differences convert to std::int64_t
  Layout layout;
  std::int64_t itemsize;
};

/// The overlap of two views. Never returns `none` for views that overlap. Returns `none` for views
/// of one dense tensor that share no byte, if they were selected or sliced along one dimension;
/// slices with a step must have equal steps that divide the size of the dimension. For other views
/// without a common byte, may return `partial`.
BYRE_API Overlap overlap_of(const Extent& a, const Extent& b);

/// Throws ShapeError, which names `operation`, if elements of `output` share memory with each
/// other.
BYRE_API void expect_distinct_elements(const Tensor& output, const char* operation);

/// Throws ShapeError, which names `operation`, if `input` partially overlaps `output`: an operation
/// in place would read elements that it has already written. `expanded` is the layout of `input`,
/// broadcast to the sizes of `output`. Otherwise returns the overlap of the two. Requires that each
/// tensor with elements has memory.
Overlap expect_no_partial_overlap(const Tensor& output, const Tensor& input, const Layout& expanded,
                                  const char* operation);

}  // namespace byre::inline BYRE_ABI::detail
