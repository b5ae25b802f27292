// SPDX-License-Identifier: BSL-1.0
/// Layout: the position of each element of a tensor in its storage, in elements. A layout is a
/// plain value that refers to no memory and no tensor, so that views are pure functions of layouts.
///
/// For all functions, unless one says otherwise:
/// - `operation` is the name of the caller's operation in the message of an error.
/// - Errors: a function that returns a Layout or Dims with more than five dimensions throws
///   OutOfMemory if memory is exhausted.
/// - Cost: O(ndim).
/// - Thread-safety: functions only read their arguments.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/dims.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace byre::inline BYRE_ABI {

/// Element (i, j, ...) is element offset + i*strides[0] + j*strides[1] + ... of the storage.
/// Strides and offset are never negative; a stride of 0 repeats an element.
struct BYRE_API Layout {
  Dims sizes;
  Dims strides;
  std::int64_t offset = 0;

  std::size_t ndim() const noexcept { return sizes.size(); }
  /// The product of the sizes; 1 if there are no dimensions.
  std::int64_t numel() const noexcept {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) {
      count *= size;
    }
    return count;
  }
  /// True if the elements are adjacent in row-major order. Also true if there are no elements.
  bool is_contiguous() const noexcept;
  /// One past the index of the last element of the storage that the layout uses; 0 if there are no
  /// elements.
  std::int64_t end() const noexcept;

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The layout of adjacent elements in row-major order, with offset 0. Throws ShapeError if a size
/// is negative, there are more than max_ndim sizes, or there are more elements than an object can
/// have bytes.
BYRE_API Layout contiguous_layout(const Dims& sizes, const char* operation);

/// The elements of a contiguous layout with other sizes. Requires that `layout` is contiguous. One
/// size may be -1, to be inferred. Throws ShapeError if the numbers of elements differ.
BYRE_API Layout contiguous_view(const Layout& layout, const Dims& sizes, const char* operation);

/// The elements of any layout, in row-major order, with other sizes. Returns nothing if strides
/// cannot express the sizes. One size may be -1, to be inferred. Throws ShapeError if the
/// numbers of elements differ. Source: the rule of NumPy and PyTorch, which compares dimensions
/// from the last to the first.
BYRE_API std::optional<Layout> viewed_as(const Layout& layout, const Dims& sizes,
                                         const char* operation);

/// Like viewed_as(), but throws ShapeError, with `advice` in the message, if strides cannot express
/// the sizes.
BYRE_API Layout viewed_as_or_throw(const Layout& layout, const Dims& sizes, const char* operation,
                                   const char* advice);

/// `sizes`, with a -1 replaced by the size that results in `numel` elements. Throws ShapeError if
/// that size does not exist or is ambiguous, if two sizes are -1, or if no size is -1 and the
/// product of `sizes` is not `numel`.
BYRE_API Dims inferred_sizes(const Dims& sizes, std::int64_t numel, const char* operation);

/// The index, in the storage, of the element at `indices`. A negative index counts from the end of
/// its dimension. Throws ShapeError if the number of indices is not ndim() or an index is out of
/// range.
BYRE_API std::int64_t element_at(const Layout& layout, std::span<const std::int64_t> indices,
                                 const char* operation);

namespace detail {
[[noreturn, gnu::cold]] BYRE_API void refuse_index(const Layout& layout, std::size_t axis,
                                                   std::int64_t index, const char* operation);
}  // namespace detail

/// True if two elements of the layout share a position in the storage. Exact for layouts that
/// result from slicing and permuting a contiguous layout; for other layouts, may also return true
/// if all positions differ. Cost: O(ndim log ndim).
BYRE_API bool may_overlap_itself(const Layout& layout) noexcept;

}  // namespace byre::inline BYRE_ABI
