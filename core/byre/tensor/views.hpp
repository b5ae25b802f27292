// SPDX-License-Identifier: BSL-1.0
/// The views: each computes, from the layout of a tensor, the layout of a tensor that has some of
/// the same elements. Pure functions; Tensor's members of the same names apply them.
///
/// Axes and indices count from the end where they are negative. Each throws ShapeError, which names
/// the view, what was asked and what there is; those of several parts OutOfMemory. Source: PyTorch's
/// views of the same names.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/layout.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace byre::inline v0::views {

namespace detail {

// A function of its own, whose stack those that call it need not have.
[[noreturn, gnu::cold]] BYRE_API void no_existing_axis(const Layout& layout, std::int64_t axis,
                                                       const char* operation);

/// `index` of `count`, counted from the end if it is negative; out of range, `count` or more.
inline std::uint64_t counted_from_start(std::int64_t index, std::int64_t count) {
  return static_cast<std::uint64_t>(index < 0 ? index + count : index);
}

/// An axis from 0 on. Throws ShapeError if there is no such dimension.
inline std::size_t existing_axis(const Layout& layout, std::int64_t axis, const char* operation) {
  const std::size_t ndim = layout.ndim();
  const std::uint64_t wrapped = counted_from_start(axis, static_cast<std::int64_t>(ndim));
  if (wrapped >= ndim) [[unlikely]] {
    no_existing_axis(layout, axis, operation);
  }
  return static_cast<std::size_t>(wrapped);
}

/// A layout without elements keeps its offset: its sizes do not say how large the storage is.
inline void advance(Layout& part, std::int64_t index, std::int64_t stride) {
  if (part.numel() != 0) {
    part.offset += index * stride;
  }
}

}  // namespace detail

/// The end of a slice that ends where its dimension does.
inline constexpr std::int64_t to_the_end = (std::numeric_limits<std::int64_t>::max)();

/// The same elements under other sizes, one of which may be -1. Throws where strides cannot say it:
/// reshape() copies then.
BYRE_API Layout view(const Layout& layout, const Dims& sizes);
/// Any layout over the storage; what it uses must lie within `storage_numel` elements. Where it has no
/// elements it uses none, and begins at the end of the storage at the latest.
BYRE_API Layout as_strided(const Dims& sizes, const Dims& strides, std::int64_t offset,
                           std::int64_t storage_numel);

BYRE_API Layout permute(const Layout& layout, const Dims& axes);
BYRE_API Layout transpose(const Layout& layout, std::int64_t first, std::int64_t second);
/// Of at most two dimensions.
BYRE_API Layout t(const Layout& layout);
BYRE_API Layout movedim(const Layout& layout, const Dims& from, const Dims& to);

/// Without the dimensions of size 1.
BYRE_API Layout squeeze(const Layout& layout);
/// Without `axis` if its size is 1.
BYRE_API Layout squeeze(const Layout& layout, std::int64_t axis);
/// With a dimension of size 1 before `axis`; ndim() is behind the last.
BYRE_API Layout unsqueeze(const Layout& layout, std::int64_t axis);
/// Dimensions of size 1 repeated, and new ones in front. -1 leaves a size as it is.
BYRE_API Layout expand(const Layout& layout, const Dims& sizes);

/// Inline, as the view that programs make most often, of one row after the other.
inline Layout select(const Layout& layout, std::int64_t axis, std::int64_t index) {
  const std::size_t selected = detail::existing_axis(layout, axis, "select");
  const std::int64_t size = layout.sizes[selected];
  const std::uint64_t wrapped = detail::counted_from_start(index, size);
  if (wrapped >= static_cast<std::uint64_t>(size)) [[unlikely]] {
    byre::detail::no_such_index(layout, selected, index, "select");
  }
  Layout part{.sizes = layout.sizes.without(selected),
              .strides = layout.strides.without(selected),
              .offset = layout.offset};
  detail::advance(part, static_cast<std::int64_t>(wrapped), layout.strides[selected]);
  return part;
}
/// Elements start, start+step, ... before end; bounds beyond the dimension are cut to it, as in
/// Python. `step` > 0.
BYRE_API Layout slice(const Layout& layout, std::int64_t axis, std::int64_t start = 0,
                      std::int64_t end = to_the_end, std::int64_t step = 1);
/// `length` elements from `start`, all of which there have to be.
BYRE_API Layout narrow(const Layout& layout, std::int64_t axis, std::int64_t start,
                       std::int64_t length);
/// Parts of `size` elements; the last may have fewer.
BYRE_API std::vector<Layout> split(const Layout& layout, std::int64_t size, std::int64_t axis = 0);
BYRE_API std::vector<Layout> split(const Layout& layout, const Dims& sizes, std::int64_t axis = 0);
/// At most `count` parts of equal size, of which the last may have fewer elements.
BYRE_API std::vector<Layout> chunk(const Layout& layout, std::int64_t count, std::int64_t axis = 0);
/// One select for each index.
BYRE_API std::vector<Layout> unbind(const Layout& layout, std::int64_t axis = 0);

/// The diagonal of two dimensions, as a new last one; `offset` > 0 is above the main diagonal.
BYRE_API Layout diagonal(const Layout& layout, std::int64_t offset = 0, std::int64_t first = 0,
                         std::int64_t second = 1);
/// Windows of `size` elements, `step` apart, as a new last dimension. A tensor of no dimensions is taken
/// for one of one element, which has one window of one element or none.
BYRE_API Layout unfold(const Layout& layout, std::int64_t axis, std::int64_t size,
                       std::int64_t step);
/// Dimensions `first` to `last` as one.
BYRE_API Layout flatten(const Layout& layout, std::int64_t first = 0, std::int64_t last = -1);

/// Elements of `from` bytes seen as elements of `to` bytes; the last dimension takes up the
/// difference.
BYRE_API Layout with_itemsize(const Layout& layout, std::size_t from, std::size_t to);
/// A complex number as a last dimension of two reals, and back; of no elements from any strides.
BYRE_API Layout as_real(const Layout& layout);
BYRE_API Layout as_complex(const Layout& layout);

}  // namespace byre::inline v0::views
