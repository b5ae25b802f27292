// SPDX-License-Identifier: BSL-1.0
/// The views that regroup elements: into other sizes, several parts or other element types.
#include <byre/memory/allocator.hpp>
#include <byre/tensor/views.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <limits>

namespace byre::inline BYRE_ABI::views {
namespace {

/// An empty list with memory reserved for `count` parts.
std::vector<Layout> reserved_parts(std::int64_t count) {
  std::vector<Layout> parts;
  const auto wanted = static_cast<std::size_t>(
      std::min<std::uint64_t>(static_cast<std::uint64_t>(count), parts.max_size() + 1));
  try {
    parts.reserve(wanted);
  } catch (const std::exception&) {  // std::bad_alloc, or std::length_error
    throw OutOfMemory(std::min(wanted, max_nbytes / sizeof(Layout)) * sizeof(Layout),
                      "heap, for the parts of a tensor");
  }
  return parts;
}

std::vector<Layout> split_evenly(const Layout& layout, std::size_t axis, std::int64_t size) {
  const std::int64_t present = layout.sizes[axis];
  std::vector<Layout> parts = reserved_parts(present == 0 ? 1 : (present - 1) / size + 1);
  std::int64_t start = 0;
  do {
    const std::int64_t length = std::min(size, present - start);
    parts.push_back(narrow(layout, static_cast<std::int64_t>(axis), start, length));
    start += length;
  } while (start < present);
  return parts;
}

constexpr const char* advice_on_views =
    "Use reshape(), which copies if necessary, or call contiguous() first.";

/// The largest allowed stride, in elements. A view as a smaller dtype multiplies strides, which
/// must not overflow.
constexpr std::int64_t max_stride = std::numeric_limits<std::int64_t>::max() / 16;

/// Throws ShapeError unless `is_whole`, which is false if elements of `from` bytes cannot be viewed
/// as elements of `to` bytes.
void expect_divisible(bool is_whole, const Layout& layout, std::size_t from, std::size_t to) {
  if (!is_whole) {
    throw ShapeError(format_text(
        "view: cannot view elements of %zu bytes as elements of %zu: strides %s, offset %lld, "
        "sizes "
        "%s. The elements of the last dimension must be adjacent; its size, the other strides and "
        "the offset must be multiples of %zu. Call contiguous() first.",
        from, to, to_string(layout.strides).c_str(), static_cast<long long>(layout.offset),
        to_string(layout.sizes).c_str(), std::max(to / from, from / to)));
  }
}

/// Multiplies the strides and the offset by `parts`, for elements that are smaller by this factor.
void rescale_to_smaller(Layout& layout, std::int64_t parts) {
  for (std::int64_t& stride : layout.strides) {
    stride *= parts;
  }
  layout.offset *= parts;
}

/// Divides the strides and the offset by `parts`, for elements that are larger by this factor.
/// Returns false if the offset or a stride is not divisible.
bool rescale_to_larger(Layout& layout, std::int64_t parts) {
  bool is_whole = layout.offset % parts == 0;
  layout.offset /= parts;
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    is_whole = is_whole && (layout.strides[axis] % parts == 0 || layout.sizes[axis] == 1);
    layout.strides[axis] /= parts;
  }
  return is_whole;
}

/// The view of a layout without elements as elements of `to` bytes instead of `from` bytes. Strides
/// need not be divisible.
Layout empty_with_itemsize(const Layout& layout, std::size_t from, std::size_t to) {
  const auto old_size = static_cast<std::int64_t>(from);
  const auto new_size = static_cast<std::int64_t>(to);
  Dims sizes(layout.sizes);
  std::int64_t nbytes = 0;
  const bool is_too_long = __builtin_mul_overflow(sizes.back(), old_size, &nbytes);
  expect_divisible(!is_too_long && nbytes % new_size == 0, layout, from, to);
  sizes.back() = nbytes / new_size;
  Layout seen = contiguous_layout(sizes, "view");
  seen.offset = layout.offset * old_size / new_size;
  return seen;
}

}  // namespace

Layout view(const Layout& layout, const Dims& sizes) {
  if (layout.is_contiguous()) {
    return contiguous_view(layout, sizes, "view");
  }
  return viewed_as_or_throw(layout, sizes, "view", advice_on_views);
}

Layout as_strided(const Dims& sizes, const Dims& strides, std::int64_t offset,
                  std::int64_t storage_numel) {
  constexpr const char* operation = "as_strided";
  if (sizes.size() != strides.size() || offset < 0 ||
      std::ranges::any_of(strides, [](std::int64_t stride) { return stride < 0; })) {
    throw ShapeError(format_text(
        "as_strided: invalid sizes %s, strides %s, offset %lld. Pass one stride for each size, and "
        "no "
        "negative number.",
        to_string(sizes).c_str(), to_string(strides).c_str(), static_cast<long long>(offset)));
  }
  const bool is_empty = byre::detail::element_count(sizes, operation) == 0;
  const std::int64_t begin = is_empty ? std::min(offset, storage_numel) : offset;
  bool fits = begin <= max_stride;
  std::int64_t last = begin;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    std::int64_t reach = 0;  // size times stride; limited even if the dimension has one element
    fits = fits && !__builtin_mul_overflow(sizes[axis], strides[axis], &reach) &&
           strides[axis] <= max_stride && reach <= max_stride;
    last += fits && !is_empty ? reach - strides[axis] : 0;
    fits = fits && last <= max_stride;
  }
  fits = fits && (is_empty || last < storage_numel);
  if (!fits) {
    throw ShapeError(
        format_text("as_strided: sizes %s, strides %s, offset %lld reach beyond the "
                    "%lld elements of the storage.",
                    to_string(sizes).c_str(), to_string(strides).c_str(),
                    static_cast<long long>(offset), static_cast<long long>(storage_numel)));
  }
  return {.sizes = sizes, .strides = strides, .offset = begin};
}

std::vector<Layout> split(const Layout& layout, std::int64_t size, std::int64_t axis) {
  const std::size_t cut_axis = detail::existing_axis(layout, axis, "split");
  if (size < 0 || (size == 0 && layout.sizes[cut_axis] != 0)) {
    throw ShapeError(format_text(
        "split: parts of %lld elements are invalid for dimension %zu of %s. Use parts of "
        "1 or more elements.",
        static_cast<long long>(size), cut_axis, to_string(layout.sizes).c_str()));
  }
  return split_evenly(layout, cut_axis, size);
}

std::vector<Layout> split(const Layout& layout, const Dims& sizes, std::int64_t axis) {
  const std::size_t cut_axis = detail::existing_axis(layout, axis, "split");
  std::int64_t left = layout.sizes[cut_axis];
  bool fits = true;
  for (const std::int64_t size : sizes) {
    fits = fits && size >= 0 && size <= left;
    left -= fits ? size : 0;
  }
  if (!fits || left != 0) {
    throw ShapeError(
        format_text("split: parts of %s elements do not add up to dimension %zu of %s. Pass "
                    "sizes of 0 or more with the sum %lld.",
                    to_string(sizes).c_str(), cut_axis, to_string(layout.sizes).c_str(),
                    static_cast<long long>(layout.sizes[cut_axis])));
  }
  std::vector<Layout> parts = reserved_parts(std::ssize(sizes));
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    parts.push_back(narrow(layout, static_cast<std::int64_t>(cut_axis), start, size));
    start += size;
  }
  return parts;
}

std::vector<Layout> chunk(const Layout& layout, std::int64_t count, std::int64_t axis) {
  const std::size_t cut_axis = detail::existing_axis(layout, axis, "chunk");
  if (count <= 0) {
    throw ShapeError(format_text("chunk: cannot make %lld parts. Use 1 or more.",
                                 static_cast<long long>(count)));
  }
  const std::int64_t present = layout.sizes[cut_axis];
  if (present == 0) {
    std::vector<Layout> parts = reserved_parts(count);
    parts.resize(static_cast<std::size_t>(count), layout);
    return parts;
  }
  return split_evenly(layout, cut_axis, (present - 1) / count + 1);
}

std::vector<Layout> unbind(const Layout& layout, std::int64_t axis) {
  const std::size_t cut_axis = detail::existing_axis(layout, axis, "unbind");
  std::vector<Layout> parts = reserved_parts(layout.sizes[cut_axis]);
  for (std::int64_t index = 0; index < layout.sizes[cut_axis]; ++index) {
    parts.push_back(select(layout, static_cast<std::int64_t>(cut_axis), index));
  }
  return parts;
}

Layout flatten(const Layout& layout, std::int64_t first, std::int64_t last) {
  const std::size_t from = byre::detail::wrap_axis(first, layout.ndim(), "flatten");
  const std::size_t to = byre::detail::wrap_axis(last, layout.ndim(), "flatten");
  if (from > to) {
    throw ShapeError(
        format_text("flatten: cannot flatten from dimension %zu to dimension %zu of %s. Pass the "
                    "lower dimension first.",
                    from, to, to_string(layout.sizes).c_str()));
  }
  if (layout.ndim() == 0) {
    return unsqueeze(layout, 0);
  }
  Dims sizes;
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    if (axis > from && axis <= to) {
      sizes.back() *= layout.sizes[axis];
    } else {
      sizes.push_back(layout.sizes[axis]);
    }
  }
  return viewed_as_or_throw(layout, sizes, "flatten", advice_on_views);
}

Layout with_itemsize(const Layout& layout, std::size_t from, std::size_t to) {
  if (from == to) {
    return layout;
  }
  expect_divisible(layout.ndim() != 0, layout, from, to);
  const std::size_t last = layout.ndim() - 1;
  if (layout.numel() == 0) {
    return empty_with_itemsize(layout, from, to);
  }
  Layout seen(layout);
  const bool is_dense = layout.strides[last] == 1 || layout.sizes[last] == 1;
  if (from > to) {
    const auto parts = static_cast<std::int64_t>(from / to);
    expect_divisible(is_dense, layout, from, to);
    byre::detail::element_count(std::array{layout.numel(), parts}, "view");
    rescale_to_smaller(seen, parts);
    seen.sizes[last] *= parts;
    seen.strides[last] = 1;
    return seen;
  }
  const auto whole = static_cast<std::int64_t>(to / from);
  seen.sizes[last] /= whole;
  seen.strides[last] = whole;
  const bool is_whole = rescale_to_larger(seen, whole);
  expect_divisible(is_whole && layout.strides[last] == 1 && layout.sizes[last] % whole == 0, layout,
                   from, to);
  return seen;
}

Layout as_real(const Layout& layout) {
  constexpr std::int64_t parts = 2;
  Dims sizes(layout.sizes);
  sizes.push_back(parts);
  Layout real = contiguous_layout(sizes, "view_as_real");
  if (layout.numel() != 0) {
    real.strides = layout.strides;
    real.offset = layout.offset;
    rescale_to_smaller(real, parts);
    real.strides.push_back(1);
    return real;
  }
  real.offset = layout.offset * parts;
  return real;
}

Layout as_complex(const Layout& layout) {
  const bool is_of_two = layout.ndim() != 0 && layout.sizes.back() == 2;
  if (is_of_two && layout.numel() == 0) {
    Layout none = contiguous_layout(layout.sizes.without(layout.ndim() - 1), "view_as_complex");
    none.offset = layout.offset / 2;
    return none;
  }
  const bool has_pairs = is_of_two && layout.strides.back() == 1;
  Layout complex = layout;
  if (has_pairs) {
    complex.sizes.pop_back();
    complex.strides.pop_back();
  }
  if (!rescale_to_larger(complex, 2) || !has_pairs) {
    throw ShapeError(format_text(
        "view_as_complex: invalid sizes %s, strides %s, offset %lld. The last dimension must be "
        "two "
        "adjacent reals; the other strides and the offset must be even. Call contiguous() first.",
        to_string(layout.sizes).c_str(), to_string(layout.strides).c_str(),
        static_cast<long long>(layout.offset)));
  }
  return complex;
}

}  // namespace byre::inline BYRE_ABI::views
