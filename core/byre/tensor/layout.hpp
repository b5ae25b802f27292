// SPDX-License-Identifier: BSL-1.0
/// Layout: where each element of a view lies in its storage, counted in elements. A value without
/// memory or a tensor, so that views can be computed, composed and tested as pure functions.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/dims.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace byre::inline v0 {

/// Element (i, j, ...) lies at offset + i*strides[0] + j*strides[1] + ... elements.
/// Strides and offset are never negative; a stride of 0 repeats an element.
struct BYRE_API Layout {
  Dims sizes;
  Dims strides;
  std::int64_t offset = 0;

  std::size_t ndim() const noexcept { return sizes.size(); }
  /// The product of the sizes: 1 for no dimensions.
  std::int64_t numel() const noexcept {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) {
      count *= size;
    }
    return count;
  }
  /// Elements lie one after the other, the last dimension fastest.
  bool is_contiguous() const noexcept;
  /// One past the highest element used, counted from the start of the storage; 0 if there is none.
  std::int64_t end() const noexcept;

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The elements of `sizes`, the last dimension fastest. Throws ShapeError, naming `operation`, for a
/// negative size or too many elements.
BYRE_API Layout contiguous_layout(const Dims& sizes, const char* operation);

/// The elements of a contiguous layout under other sizes; one may be -1, to be inferred. Throws
/// ShapeError where the numbers of elements differ.
BYRE_API Layout contiguous_view(const Layout& layout, const Dims& sizes, const char* operation);

/// The same elements in the same order under other sizes, of the same number of elements, if
/// strides can say that; one size may be -1, to be inferred. Throws ShapeError where the numbers of
/// elements differ. Source: the rule of NumPy and PyTorch, dimension by dimension from the last.
BYRE_API std::optional<Layout> viewed_as(const Layout& layout, const Dims& sizes,
                                         const char* operation);

/// As viewed_as(). Throws ShapeError, with the advice, also if strides cannot say it.
BYRE_API Layout viewed_as_or_throw(const Layout& layout, const Dims& sizes, const char* operation,
                                   const char* advice);

/// `sizes` with its -1, if there is one, replaced by what makes `numel` elements. Throws ShapeError.
BYRE_API Dims inferred_sizes(const Dims& sizes, std::int64_t numel, const char* operation);

/// The element at `indices`, counted in the storage; negative indices count from the end. Throws
/// ShapeError for too many, too few, or one that is out of range.
BYRE_API std::int64_t element_at(const Layout& layout, std::span<const std::int64_t> indices,
                                 const char* operation);

namespace detail {
[[noreturn, gnu::cold]] BYRE_API void no_such_index(const Layout& layout, std::size_t axis,
                                                    std::int64_t index, const char* operation);
}  // namespace detail

/// Whether some element of the storage is used twice by one layout. Exact for layouts made by
/// slicing and permuting; where that is in doubt, true.
BYRE_API bool may_overlap_itself(const Layout& layout) noexcept;

}  // namespace byre::inline v0
