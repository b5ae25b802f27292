// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/layout/detail/compact.hpp>

#include <algorithm>
#include <utility>

namespace byre::inline BYRE_ABI::detail {

Compact compacted(const Layout& layout) {
  Layout distinct{.sizes = layout.sizes, .strides = layout.strides, .offset = layout.offset};
  Dims axes(layout.ndim(), 0);
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    axes[axis] = static_cast<std::int64_t>(axis);
    if (layout.strides[axis] == 0 && layout.sizes[axis] > 1) {
      distinct.sizes[axis] = 1;
    }
  }
  Layout result{.sizes = layout.sizes, .strides = layout.strides, .offset = 0};
  if (may_overlap_itself(distinct)) {
    return {{.sizes = {layout.end() - layout.offset}, .strides = {1}, .offset = layout.offset},
            std::move(result)};
  }
  const auto stride_of = [&](std::int64_t axis) {
    return layout.strides[static_cast<std::size_t>(axis)];
  };
  // std::stable_sort would allocate.
  std::sort(axes.begin(), axes.end(), [&](std::int64_t first, std::int64_t second) {
    return std::pair(-stride_of(first), first) < std::pair(-stride_of(second), second);
  });
  Layout copied = distinct;
  std::int64_t dense_stride = 1;
  for (std::size_t place = layout.ndim(); place-- > 0;) {
    const auto axis = static_cast<std::size_t>(axes[place]);
    copied.sizes[place] = distinct.sizes[axis];
    copied.strides[place] = distinct.strides[axis];
    if (layout.strides[axis] != 0) {
      result.strides[axis] = dense_stride;
    }
    dense_stride *= std::max<std::int64_t>(distinct.sizes[axis], 1);
  }
  return {std::move(copied), std::move(result)};
}

}  // namespace byre::inline BYRE_ABI::detail
