// SPDX-License-Identifier: BSL-1.0
/// The view functions: each computes the layout of a view from the layout of a tensor. Tensor's
/// members of the same names apply them.
///
/// For all of them: negative axes and indices count from the end. Throws ShapeError, which names
/// the view, the argument and the allowed range; OutOfMemory for more than five dimensions and for
/// the lists of split, chunk and unbind. Cost: O(ndim) for each resulting layout. Pure functions,
/// safe on any number of threads. Source: PyTorch's views of the same names.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/layout.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace byre::inline v0::views {

namespace detail {

// Not inline, so that callers do not reserve stack for its message.
[[noreturn, gnu::cold]] BYRE_API void refuse_missing_axis(const Layout& layout, std::int64_t axis,
                                                          const char* operation);

/// `index`, counted from the end of `count` if negative. The result is `count` or more if `index`
/// is out of range.
inline std::uint64_t counted_from_start(std::int64_t index, std::int64_t count) {
  return static_cast<std::uint64_t>(index < 0 ? index + count : index);
}

/// `axis` as an index from 0. Throws ShapeError if it is out of range, also if `layout` has no
/// dimensions.
inline std::size_t existing_axis(const Layout& layout, std::int64_t axis, const char* operation) {
  const std::size_t ndim = layout.ndim();
  const std::uint64_t wrapped = counted_from_start(axis, static_cast<std::int64_t>(ndim));
  if (wrapped >= ndim) [[unlikely]] {
    refuse_missing_axis(layout, axis, operation);
  }
  return static_cast<std::size_t>(wrapped);
}

/// Moves the offset by `index` steps. A layout without elements retains its offset, because nothing
/// bounds it to the storage.
inline void advance(Layout& part, std::int64_t index, std::int64_t stride) {
  if (part.numel() != 0) {
    part.offset += index * stride;
  }
}

}  // namespace detail

/// The end of a slice that includes the last element of its dimension.
inline constexpr std::int64_t to_the_end = (std::numeric_limits<std::int64_t>::max)();

/// The elements with other sizes; -1 for one size infers it. Throws ShapeError if strides cannot
/// express the sizes; Tensor::reshape() copies in this case.
BYRE_API Layout view(const Layout& layout, const Dims& sizes);
/// Any layout of a storage of `storage_numel` elements. Throws ShapeError if an element is outside
/// of the storage. If the layout has no elements, an offset beyond the storage becomes
/// `storage_numel`.
BYRE_API Layout as_strided(const Dims& sizes, const Dims& strides, std::int64_t offset,
                           std::int64_t storage_numel);

/// The dimensions in the order of `axes`, which names each dimension once.
BYRE_API Layout permute(const Layout& layout, const Dims& axes);
/// Dimensions `first` and `second` swapped.
BYRE_API Layout transpose(const Layout& layout, std::int64_t first, std::int64_t second);
/// The transpose of a matrix; unchanged for fewer than two dimensions. Throws ShapeError for more.
BYRE_API Layout t(const Layout& layout);
/// Dimension from[i] moved to position to[i]; the others retain their order.
BYRE_API Layout movedim(const Layout& layout, const Dims& from, const Dims& to);

/// Without the dimensions of size 1.
BYRE_API Layout squeeze(const Layout& layout);
/// Without `axis` if its size is 1.
BYRE_API Layout squeeze(const Layout& layout, std::int64_t axis);
/// With a new dimension of size 1 before `axis`; ndim() appends it.
BYRE_API Layout unsqueeze(const Layout& layout, std::int64_t axis);
/// Dimensions of size 1 repeated by a stride of 0, and new dimensions added in front. A size of -1
/// means the present size.
BYRE_API Layout expand(const Layout& layout, const Dims& sizes);

/// The elements at `index` of a dimension, without that dimension. Inline, because loops over rows
/// call it most often.
inline Layout select(const Layout& layout, std::int64_t axis, std::int64_t index) {
  const std::size_t selected = detail::existing_axis(layout, axis, "select");
  const std::int64_t size = layout.sizes[selected];
  const std::uint64_t wrapped = detail::counted_from_start(index, size);
  if (wrapped >= static_cast<std::uint64_t>(size)) [[unlikely]] {
    byre::detail::refuse_index(layout, selected, index, "select");
  }
  Layout part{.sizes = layout.sizes.without(selected),
              .strides = layout.strides.without(selected),
              .offset = layout.offset};
  detail::advance(part, static_cast<std::int64_t>(wrapped), layout.strides[selected]);
  return part;
}
/// The elements start, start+step, ... before `end` of a dimension. Bounds out of range are clamped
/// to the dimension, as in Python. Requires `step` > 0.
BYRE_API Layout slice(const Layout& layout, std::int64_t axis, std::int64_t start = 0,
                      std::int64_t end = to_the_end, std::int64_t step = 1);
/// `length` elements of a dimension, from `start` on. Throws ShapeError if one is out of range.
BYRE_API Layout narrow(const Layout& layout, std::int64_t axis, std::int64_t start,
                       std::int64_t length);
/// The parts of a dimension of `size` elements each; the last may have fewer.
BYRE_API std::vector<Layout> split(const Layout& layout, std::int64_t size, std::int64_t axis = 0);
/// The parts of a dimension of sizes[0], sizes[1], ... elements. Throws ShapeError unless these add
/// up to the size of the dimension.
BYRE_API std::vector<Layout> split(const Layout& layout, const Dims& sizes, std::int64_t axis = 0);
/// At most `count` parts of equal size; the last may have fewer elements.
BYRE_API std::vector<Layout> chunk(const Layout& layout, std::int64_t count, std::int64_t axis = 0);
/// select() for each index.
BYRE_API std::vector<Layout> unbind(const Layout& layout, std::int64_t axis = 0);

/// The diagonal of two dimensions, as a new last dimension. `offset` > 0 is above the main
/// diagonal.
BYRE_API Layout diagonal(const Layout& layout, std::int64_t offset = 0, std::int64_t first = 0,
                         std::int64_t second = 1);
/// Windows of `size` elements, `step` elements apart, as a new last dimension. A tensor without
/// dimensions counts as a dimension of one element: its window has one element, or 0 if `size` is
/// 0.
BYRE_API Layout unfold(const Layout& layout, std::int64_t axis, std::int64_t size,
                       std::int64_t step);
/// Dimensions `first` to `last` as one. Throws ShapeError if strides cannot express that.
BYRE_API Layout flatten(const Layout& layout, std::int64_t first = 0, std::int64_t last = -1);

/// Elements of `from` bytes as elements of `to` bytes. The size of the last dimension changes by
/// the ratio. Throws ShapeError if the last dimension is not dense or a size, stride or the offset
/// is not divisible.
BYRE_API Layout with_itemsize(const Layout& layout, std::size_t from, std::size_t to);
/// Complex numbers as a last dimension of two reals, and back. as_complex() throws ShapeError if
/// the last dimension is not two adjacent reals or other strides are odd; without elements it
/// accepts any strides.
BYRE_API Layout as_real(const Layout& layout);
BYRE_API Layout as_complex(const Layout& layout);

}  // namespace byre::inline v0::views
