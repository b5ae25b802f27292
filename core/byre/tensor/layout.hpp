// SPDX-License-Identifier: BSL-1.0
/// Layout: the position of each element of a view in its storage, in elements. A layout is a plain
/// value that refers to no memory and no tensor, so that views are pure functions of layouts.
///
/// Thread-safety of all functions: they only read their arguments. Functions that return a Layout
/// or Dims of more than five dimensions throw OutOfMemory. `operation` is the name in the message
/// of an error.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/dims.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace byre::inline v0 {

/// Element (i, j, ...) is element offset + i*strides[0] + j*strides[1] + ... of the storage.
/// Strides and offset are never negative; a stride of 0 repeats an element.
struct BYRE_API Layout {
  Dims sizes;
  Dims strides;
  std::int64_t offset = 0;

  std::size_t ndim() const noexcept { return sizes.size(); }
  /// The product of the sizes; 1 without dimensions.
  std::int64_t numel() const noexcept {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) {
      count *= size;
    }
    return count;
  }
  /// True if the elements are adjacent in row-major order, and if there are no elements.
  bool is_contiguous() const noexcept;
  /// One past the index of the last used element of the storage; 0 if there are
  /// no elements.
  std::int64_t end() const noexcept;

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The layout of adjacent elements in row-major order, with offset 0. Throws ShapeError if a size
/// is negative or there are too many elements.
BYRE_API Layout contiguous_layout(const Dims& sizes, const char* operation);

/// The elements of a contiguous layout with other sizes. One size may be -1, to be inferred. Throws
/// ShapeError if the numbers of elements differ.
BYRE_API Layout contiguous_view(const Layout& layout, const Dims& sizes, const char* operation);

/// The elements of any layout with other sizes, in the same row-major order. Returns nothing if
/// strides cannot express that. One size may be -1, to be inferred. Throws ShapeError if the
/// numbers of elements differ. Source: the rule of NumPy and PyTorch, dimension by dimension from
/// the last.
BYRE_API std::optional<Layout> viewed_as(const Layout& layout, const Dims& sizes,
                                         const char* operation);

/// As viewed_as(), but throws ShapeError, with `advice` in its message, if strides cannot express
/// it.
BYRE_API Layout viewed_as_or_throw(const Layout& layout, const Dims& sizes, const char* operation,
                                   const char* advice);

/// `sizes`, with a -1 replaced by the size that results in `numel` elements. Throws ShapeError if
/// the number of elements differs or two sizes are -1.
BYRE_API Dims inferred_sizes(const Dims& sizes, std::int64_t numel, const char* operation);

/// The index in the storage of the element at `indices`. A negative index counts from the end.
/// Throws ShapeError if the number of indices is not ndim() or an index is out of range.
BYRE_API std::int64_t element_at(const Layout& layout, std::span<const std::int64_t> indices,
                                 const char* operation);

namespace detail {
[[noreturn, gnu::cold]] BYRE_API void refuse_index(const Layout& layout, std::size_t axis,
                                                   std::int64_t index, const char* operation);
}  // namespace detail

/// True if the layout uses an element of the storage at two indices. Exact for layouts that result
/// from slicing and permuting; for others it may return true although none is used twice.
BYRE_API bool may_overlap_itself(const Layout& layout) noexcept;

}  // namespace byre::inline v0
