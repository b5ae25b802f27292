// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/views.hpp>

#include <algorithm>
#include <optional>

namespace byre::inline BYRE_ABI::views {

void detail::refuse_missing_axis(const Layout& layout, std::int64_t axis, const char* operation) {
  if (layout.ndim() != 0) {
    byre::detail::refuse_axis(axis, layout.ndim(), operation);
  }
  throw ShapeError(
      format_text("%s: dimension %lld is out of range: the tensor has no dimensions. Add one by "
                  "unsqueeze(0).",
                  operation, static_cast<long long>(axis)));
}

namespace {

using detail::advance;
using detail::existing_axis;

using std::ptrdiff_t;

long long as_long_long(std::int64_t number) {
  return number;
}

template <class Sequence>
auto at(Sequence& sequence, std::size_t index) {
  return sequence.begin() + static_cast<ptrdiff_t>(index);
}

void erase_axis(Layout& layout, std::size_t axis) {
  layout.sizes.erase(at(layout.sizes, axis));
  layout.strides.erase(at(layout.strides, axis));
}

/// `axes` as indices from 0. Throws ShapeError if an axis is out of range or named twice.
Dims distinct_axes(const Layout& layout, const Dims& axes, const char* operation) {
  if (layout.ndim() == 0 && !axes.empty()) {
    detail::refuse_missing_axis(layout, axes.front(), operation);
  }
  return byre::detail::distinct_axes(axes, layout.ndim(), operation);
}

Layout window(const Layout& layout, std::size_t axis, std::int64_t start, std::int64_t size,
              std::int64_t step) {
  Layout part(layout);
  part.sizes[axis] = size;
  part.strides[axis] *= step;
  advance(part, start, layout.strides[axis]);
  return part;
}

}  // namespace

Layout permute(const Layout& layout, const Dims& axes) {
  if (axes.size() != layout.ndim()) {
    throw ShapeError(
        format_text("permute: %zu axes %s for a tensor of %zu dimensions. Name every "
                    "dimension once.",
                    axes.size(), to_string(axes).c_str(), layout.ndim()));
  }
  Layout permuted{.sizes = {}, .strides = {}, .offset = layout.offset};
  for (const std::int64_t axis : distinct_axes(layout, axes, "permute")) {
    const auto from = static_cast<std::size_t>(axis);
    permuted.sizes.push_back(layout.sizes[from]);
    permuted.strides.push_back(layout.strides[from]);
  }
  return permuted;
}

Layout transpose(const Layout& layout, std::int64_t first, std::int64_t second) {
  const std::size_t from = byre::detail::wrap_axis(first, layout.ndim(), "transpose");
  const std::size_t to = byre::detail::wrap_axis(second, layout.ndim(), "transpose");
  Layout transposed(layout);
  if (from != to) {
    std::swap(transposed.sizes[from], transposed.sizes[to]);
    std::swap(transposed.strides[from], transposed.strides[to]);
  }
  return transposed;
}

Layout t(const Layout& layout) {
  if (layout.ndim() > 2) {
    throw ShapeError(format_text(
        "t: the tensor has %zu dimensions, %s, allowed are at most 2. Use transpose() or "
        "permute().",
        layout.ndim(), to_string(layout.sizes).c_str()));
  }
  return layout.ndim() < 2 ? layout : transpose(layout, 0, 1);
}

Layout movedim(const Layout& layout, const Dims& from, const Dims& to) {
  if (from.size() != to.size()) {
    throw ShapeError(
        format_text("movedim: %zu dimensions %s to %zu positions %s. Pass one position for "
                    "each dimension.",
                    from.size(), to_string(from).c_str(), to.size(), to_string(to).c_str()));
  }
  const Dims sources = distinct_axes(layout, from, "movedim");
  const Dims places = distinct_axes(layout, to, "movedim");
  constexpr std::int64_t free = -1;
  Dims axes(layout.ndim(), free);
  for (std::size_t number = 0; number < sources.size(); ++number) {
    axes[static_cast<std::size_t>(places[number])] = sources[number];
  }
  auto place = axes.begin();
  for (std::int64_t axis = 0; axis < std::ssize(axes); ++axis) {
    if (std::ranges::find(sources, axis) == sources.end()) {
      place = std::find(place, axes.end(), free);
      *place = axis;
    }
  }
  return permute(layout, axes);
}

Layout squeeze(const Layout& layout) {
  Layout squeezed{.sizes = {}, .strides = {}, .offset = layout.offset};
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    if (layout.sizes[axis] != 1) {
      squeezed.sizes.push_back(layout.sizes[axis]);
      squeezed.strides.push_back(layout.strides[axis]);
    }
  }
  return squeezed;
}

Layout squeeze(const Layout& layout, std::int64_t axis) {
  const std::size_t squeezed_axis = byre::detail::wrap_axis(axis, layout.ndim(), "squeeze");
  Layout squeezed(layout);
  if (layout.ndim() != 0 && layout.sizes[squeezed_axis] == 1) {
    erase_axis(squeezed, squeezed_axis);
  }
  return squeezed;
}

Layout unsqueeze(const Layout& layout, std::int64_t axis) {
  const std::size_t before = byre::detail::wrap_axis(axis, layout.ndim() + 1, "unsqueeze");
  byre::detail::expect_ndim(layout.ndim() + 1, "unsqueeze");
  const bool is_last = before == layout.ndim();
  const std::int64_t stride = is_last ? 1 : layout.sizes[before] * layout.strides[before];
  Layout unsqueezed(layout);
  unsqueezed.sizes.insert(at(unsqueezed.sizes, before), 1);
  unsqueezed.strides.insert(at(unsqueezed.strides, before), stride);
  return unsqueezed;
}

Layout expand(const Layout& layout, const Dims& sizes) {
  if (sizes.size() < layout.ndim()) {
    throw ShapeError(
        format_text("expand: cannot expand %s to %s: expand() does not remove dimensions. "
                    "Pass at least %zu sizes.",
                    to_string(layout.sizes).c_str(), to_string(sizes).c_str(), layout.ndim()));
  }
  const std::size_t added = sizes.size() - layout.ndim();
  byre::detail::expect_ndim(sizes.size(), "expand");
  Layout expanded{.sizes = sizes, .strides = Dims(sizes.size(), 0), .offset = layout.offset};
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    const bool is_new = axis < added;
    const std::int64_t present = is_new ? 1 : layout.sizes[axis - added];
    if (sizes[axis] == -1 && !is_new) {
      expanded.sizes[axis] = present;
    } else if (sizes[axis] != present && present != 1) {
      throw ShapeError(format_text(
          "expand: cannot expand %s to %s: dimension %zu has size %lld, and only size 1 can be "
          "repeated. Pass -1 to retain a size.",
          to_string(layout.sizes).c_str(), to_string(sizes).c_str(), axis - added,
          as_long_long(present)));
    }
    if (!is_new && expanded.sizes[axis] == present) {
      expanded.strides[axis] = layout.strides[axis - added];
    }
  }
  byre::detail::element_count(expanded.sizes, "expand");
  return expanded;
}

Layout slice(const Layout& layout, std::int64_t axis, std::int64_t start, std::int64_t end,
             std::int64_t step) {
  const std::size_t sliced = existing_axis(layout, axis, "slice");
  if (step <= 0) {
    throw ShapeError(
        format_text("slice: the step is %lld, allowed are 1 and more: strides are never negative. "
                    "Use flip() to reverse a copy.",
                    as_long_long(step)));
  }
  const std::int64_t size = layout.sizes[sliced];
  const auto clamp_bound = [size](std::int64_t bound) {
    return std::clamp<std::int64_t>(bound < 0 ? bound + size : bound, 0, size);
  };
  const std::int64_t first = clamp_bound(start);
  const std::int64_t length = std::max<std::int64_t>(clamp_bound(end) - first, 0);
  const std::int64_t taken = length == 0 ? 0 : (length - 1) / step + 1;
  // The stride of a dimension of one element is not multiplied by `step`, which may be huge.
  return window(layout, sliced, first, taken, taken > 1 ? step : 1);
}

Layout narrow(const Layout& layout, std::int64_t axis, std::int64_t start, std::int64_t length) {
  const std::size_t narrowed = existing_axis(layout, axis, "narrow");
  const std::int64_t size = layout.sizes[narrowed];
  const std::int64_t first = start < 0 ? start + size : start;
  if (first < 0 || length < 0 || length > size - first) {
    throw ShapeError(format_text(
        "narrow: %lld elements from %lld are out of range for dimension %zu of %s.",
        as_long_long(length), as_long_long(start), narrowed, to_string(layout.sizes).c_str()));
  }
  return window(layout, narrowed, first, length, 1);
}

Layout diagonal(const Layout& layout, std::int64_t offset, std::int64_t first,
                std::int64_t second) {
  const Dims axes = distinct_axes(layout, {first, second}, "diagonal");
  const auto row_axis = static_cast<std::size_t>(axes[0]);
  const auto column_axis = static_cast<std::size_t>(axes[1]);
  const std::int64_t rows = layout.sizes[row_axis];
  const std::int64_t columns = layout.sizes[column_axis];
  // Offsets outside of the matrix have an empty diagonal. They are clamped, so that no sum
  // overflows.
  const std::int64_t above = std::clamp(offset, -rows, columns);
  const std::int64_t length = std::max<std::int64_t>(
      above >= 0 ? std::min(rows, columns - above) : std::min(rows + above, columns), 0);
  const std::int64_t down = layout.strides[row_axis];
  const std::int64_t right = layout.strides[column_axis];
  Layout diagonal(layout);
  erase_axis(diagonal, std::max(row_axis, column_axis));
  erase_axis(diagonal, std::min(row_axis, column_axis));
  diagonal.sizes.push_back(length);
  // If the diagonal has one element, the strides are not added: repeated calls of diagonal() would
  // make the stride grow without bound.
  diagonal.strides.push_back(length > 1 ? down + right : right);
  advance(diagonal, above >= 0 ? above : -above, above >= 0 ? right : down);
  return diagonal;
}

Layout unfold(const Layout& layout, std::int64_t axis, std::int64_t size, std::int64_t step) {
  const bool is_one_element = layout.ndim() == 0;
  const std::size_t unfolded_axis = byre::detail::wrap_axis(axis, layout.ndim(), "unfold");
  const std::int64_t present = is_one_element ? 1 : layout.sizes[unfolded_axis];
  if (size < 0 || size > present || step <= 0) {
    throw ShapeError(
        format_text("unfold: windows of %lld elements, %lld apart, do not fit dimension %zu of %s. "
                    "Pass a size from 0 to %lld and a step of 1 or more.",
                    as_long_long(size), as_long_long(step), unfolded_axis,
                    to_string(layout.sizes).c_str(), as_long_long(present)));
  }
  if (is_one_element) {
    // A scalar has only one window.
    return {.sizes = {size}, .strides = {1}, .offset = layout.offset};
  }
  const std::int64_t windows = (present - size) / step + 1;
  Layout unfolded(layout);
  unfolded.sizes[unfolded_axis] = windows;
  unfolded.strides[unfolded_axis] *= windows > 1 ? step : 1;
  unfolded.sizes.push_back(size);
  unfolded.strides.push_back(layout.strides[unfolded_axis]);
  byre::detail::element_count(unfolded.sizes, "unfold");
  return unfolded;
}

}  // namespace byre::inline BYRE_ABI::views
