// SPDX-License-Identifier: BSL-1.0
/// The view functions: each computes the layout of a view from the layout of a tensor. The member
/// of Tensor with the same name makes a tensor with that layout.
///
/// For all of these functions:
/// - A negative axis or index counts from the end.
/// - Errors: ShapeError if an argument is invalid; the message names the view, the argument and the
///   allowed range. OutOfMemory if memory is exhausted and the result is a list or has more than
///   five dimensions.
/// - Cost: O(ndim) for each resulting layout.
/// - Thread-safety: the functions are pure; any thread may call them.
/// - Source: PyTorch's views of the same names.
#pragma once

#include <byre/config.hpp>
#include <byre/tensor/layout.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace byre::inline BYRE_ABI::views {

namespace detail {

// Not inline, so that callers do not reserve stack for the message.
[[noreturn, gnu::cold]] BYRE_API void refuse_missing_axis(const Layout& layout, std::int64_t axis,
                                                          const char* operation);

/// `index` as an index from 0; a negative index counts back from `count`. The result is `count` or
/// more if `index` is out of range.
inline std::uint64_t counted_from_start(std::int64_t index, std::int64_t count) {
  return static_cast<std::uint64_t>(index < 0 ? index + count : index);
}

/// `axis` as an index from 0. Throws ShapeError if `axis` is out of range. If `layout` has no
/// dimensions, every axis is out of range.
inline std::size_t existing_axis(const Layout& layout, std::int64_t axis, const char* operation) {
  const std::size_t ndim = layout.ndim();
  const std::uint64_t wrapped = counted_from_start(axis, static_cast<std::int64_t>(ndim));
  if (wrapped >= ndim) [[unlikely]] {
    refuse_missing_axis(layout, axis, operation);
  }
  return static_cast<std::size_t>(wrapped);
}

/// Moves the offset by `index` steps of `stride` elements. A layout without elements retains its
/// offset, because the moved offset could be outside of the storage.
inline void advance(Layout& part, std::int64_t index, std::int64_t stride) {
  if (part.numel() != 0) {
    part.offset += index * stride;
  }
}

}  // namespace detail

/// An `end` for slice() that is beyond the last element of every dimension.
inline constexpr std::int64_t to_the_end = (std::numeric_limits<std::int64_t>::max)();

/// The elements in row-major order, with other sizes. One size may be -1, to be inferred. Throws
/// ShapeError if strides cannot express the sizes; Tensor::reshape() copies in this case.
BYRE_API Layout view(const Layout& layout, const Dims& sizes);
/// Any layout in a storage of `storage_numel` elements. Throws ShapeError if an element would be
/// outside of the storage, or a stride or the offset is negative. If there are no elements, an
/// offset beyond the storage becomes `storage_numel`.
BYRE_API Layout as_strided(const Dims& sizes, const Dims& strides, std::int64_t offset,
                           std::int64_t storage_numel);

/// The dimensions in the order of `axes`, which must name each dimension once.
BYRE_API Layout permute(const Layout& layout, const Dims& axes);
/// Dimensions `first` and `second` swapped.
BYRE_API Layout transpose(const Layout& layout, std::int64_t first, std::int64_t second);
/// The transpose of a matrix. Returns `layout` if it has fewer than two dimensions. Throws
/// ShapeError if it has more than two.
BYRE_API Layout t(const Layout& layout);
/// Dimension from[i] moved to position to[i]; the others retain their order.
BYRE_API Layout movedim(const Layout& layout, const Dims& from, const Dims& to);

/// Without the dimensions of size 1.
BYRE_API Layout squeeze(const Layout& layout);
/// Without `axis` if its size is 1.
BYRE_API Layout squeeze(const Layout& layout, std::int64_t axis);
/// With a new dimension of size 1 before `axis`, or after the last dimension if `axis` is ndim().
BYRE_API Layout unsqueeze(const Layout& layout, std::int64_t axis);
/// Dimensions of size 1 repeated by a stride of 0, and new dimensions in front, also with a stride
/// of 0. A size of -1 retains the present size.
BYRE_API Layout expand(const Layout& layout, const Dims& sizes);

/// The elements at `index` of dimension `axis`, without that dimension. Inline, because loops over
/// rows call this view most often.
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
/// The elements start, start + step, ... before `end` of dimension `axis`. Bounds out of range are
/// clamped to the dimension, as in Python. Throws ShapeError if `step` is less than 1.
BYRE_API Layout slice(const Layout& layout, std::int64_t axis, std::int64_t start = 0,
                      std::int64_t end = to_the_end, std::int64_t step = 1);
/// `length` elements of dimension `axis`, from `start` on. Throws ShapeError if an element is out
/// of range.
BYRE_API Layout narrow(const Layout& layout, std::int64_t axis, std::int64_t start,
                       std::int64_t length);
/// Dimension `axis` in parts of `size` elements each; the last part may have fewer.
BYRE_API std::vector<Layout> split(const Layout& layout, std::int64_t size, std::int64_t axis = 0);
/// Dimension `axis` in parts of sizes[0], sizes[1], ... elements. Throws ShapeError unless `sizes`
/// add up to the size of the dimension.
BYRE_API std::vector<Layout> split(const Layout& layout, const Dims& sizes, std::int64_t axis = 0);
/// Dimension `axis` in at most `count` parts of equal size; the last part may have fewer elements.
BYRE_API std::vector<Layout> chunk(const Layout& layout, std::int64_t count, std::int64_t axis = 0);
/// select() for each index of dimension `axis`.
BYRE_API std::vector<Layout> unbind(const Layout& layout, std::int64_t axis = 0);

/// The diagonal of dimensions `first` and `second`, as a new last dimension. The diagonal is above
/// the main diagonal if `offset` is positive, and below if negative.
BYRE_API Layout diagonal(const Layout& layout, std::int64_t offset = 0, std::int64_t first = 0,
                         std::int64_t second = 1);
/// Windows of `size` elements of dimension `axis`, `step` elements apart, as a new last dimension.
/// A layout without dimensions is treated as one dimension of one element, and has a single window
/// of `size` elements, 0 or 1.
BYRE_API Layout unfold(const Layout& layout, std::int64_t axis, std::int64_t size,
                       std::int64_t step);
/// Dimensions `first` to `last` joined into one. Throws ShapeError if no stride can express the
/// joined dimension.
BYRE_API Layout flatten(const Layout& layout, std::int64_t first = 0, std::int64_t last = -1);

/// Elements of `from` bytes as elements of `to` bytes. The size of the last dimension changes by
/// the ratio. Throws ShapeError if there are no dimensions, the elements of the last dimension are
/// not adjacent, or the size of the last dimension, another stride or the offset is not divisible
/// by the ratio.
BYRE_API Layout with_itemsize(const Layout& layout, std::size_t from, std::size_t to);
/// as_real(): complex numbers as a new last dimension of two reals. as_complex(): the reverse.
/// as_complex() throws ShapeError if the last dimension is not two adjacent reals, or another
/// stride or the offset is odd; if there are no elements, it accepts any strides and any offset.
BYRE_API Layout as_real(const Layout& layout);
BYRE_API Layout as_complex(const Layout& layout);

}  // namespace byre::inline BYRE_ABI::views
