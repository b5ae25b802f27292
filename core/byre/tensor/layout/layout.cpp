// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/layout.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace byre::inline BYRE_ABI {
namespace {

[[noreturn]] void refuse_element_count(const Dims& sizes, std::int64_t numel,
                                       const char* operation) {
  throw ShapeError(format_text(
      "%s: sizes %s do not match the %lld elements of the tensor. Choose sizes with the product "
      "%lld, or pass -1 for one size to infer it.",
      operation, to_string(sizes).c_str(), static_cast<long long>(numel),
      static_cast<long long>(numel)));
}

/// One dimension, or adjacent dimensions that are joined because one stride can express them.
struct Run {
  std::int64_t size;
  std::int64_t stride;
};

/// The runs of `layout`, as a layout that has one dimension for each run.
Layout dense_runs(const Layout& layout) {
  Layout runs;
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    const Run next{layout.sizes[axis], layout.strides[axis]};
    if (next.size == 1) {
      continue;
    }
    if (runs.ndim() != 0 && runs.strides.back() == next.size * next.stride) {
      runs.sizes.back() *= next.size;
      runs.strides.back() = next.stride;
    } else {
      runs.sizes.push_back(next.size);
      runs.strides.push_back(next.stride);
    }
  }
  return runs;
}

/// The strides of a contiguous layout. Requires that the product of `sizes` does not overflow.
Dims dense_strides(const Dims& sizes) {
  Dims strides(sizes.size());
  const std::int64_t* const size = sizes.data();
  std::int64_t* const at = strides.data();
  std::int64_t stride = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    at[axis] = stride;
    stride *= std::max<std::int64_t>(size[axis], 1);
  }
  return strides;
}

}  // namespace

bool Layout::is_contiguous() const noexcept {
  std::int64_t dense_stride = 1;
  for (std::size_t axis = ndim(); axis-- > 0;) {
    if (sizes[axis] == 0) {
      return true;
    }
    if (sizes[axis] != 1 && strides[axis] != dense_stride) {
      return numel() == 0;
    }
    dense_stride *= sizes[axis];
  }
  return true;
}

std::int64_t Layout::end() const noexcept {
  std::int64_t last = offset;
  for (std::size_t axis = 0; axis < ndim(); ++axis) {
    if (sizes[axis] == 0) {
      return 0;
    }
    last += (sizes[axis] - 1) * strides[axis];
  }
  return last + 1;
}

Layout contiguous_layout(const Dims& sizes, const char* operation) {
  detail::element_count(sizes, operation);
  return {.sizes = sizes, .strides = dense_strides(sizes)};
}

Dims inferred_sizes(const Dims& sizes, std::int64_t numel, const char* operation) {
  const auto unknown = std::ranges::find(sizes, -1);
  if (unknown == sizes.end()) {
    if (detail::element_count(sizes, operation) != numel) {
      refuse_element_count(sizes, numel, operation);
    }
    return sizes;
  }
  Dims known(sizes);
  auto& inferred = known[static_cast<std::size_t>(unknown - sizes.begin())];
  inferred = 1;
  const std::int64_t others = detail::element_count(known, operation);  // rejects a second -1
  if (others == 0 || numel % others != 0) {
    refuse_element_count(sizes, numel, operation);
  }
  inferred = numel / others;
  return known;
}

Layout contiguous_view(const Layout& layout, const Dims& sizes, const char* operation) {
  const Dims known = inferred_sizes(sizes, layout.numel(), operation);
  // Constructs both Dims directly in the result: moving a Dims would be slower than filling it.
  return {.sizes = known, .strides = dense_strides(known), .offset = layout.offset};
}

std::optional<Layout> viewed_as(const Layout& layout, const Dims& wanted, const char* operation) {
  std::optional<Layout> viewed(contiguous_view(layout, wanted, operation));
  if (layout.is_contiguous()) {
    return viewed;
  }
  Layout& view = *viewed;
  // Splits each run of the input into wanted dimensions, from the last run to the first. The
  // product of the sizes of these dimensions must be the size of the run.
  auto runs = dense_runs(layout);
  std::size_t axis = view.ndim();
  while (axis-- > 0) {
    const std::int64_t size = view.sizes[axis];
    if (size == 1) {
      continue;
    }
    while (runs.ndim() != 0 && runs.sizes.back() == 1) {
      runs.sizes.pop_back();
      runs.strides.pop_back();
    }
    if (runs.sizes.back() % size != 0) {
      return std::nullopt;
    }
    view.strides[axis] = runs.strides.back();
    runs.sizes.back() /= size;
    runs.strides.back() *= size;
  }
  return viewed;
}

Layout viewed_as_or_throw(const Layout& layout, const Dims& sizes, const char* operation,
                          const char* advice) {
  if (auto view = viewed_as(layout, sizes, operation)) {
    return std::move(*view);
  }
  throw ShapeError(format_text("%s: sizes %s with strides %s cannot become %s without copying. %s",
                               operation, to_string(layout.sizes).c_str(),
                               to_string(layout.strides).c_str(), to_string(sizes).c_str(),
                               advice));
}

std::int64_t element_at(const Layout& layout, std::span<const std::int64_t> indices,
                        const char* operation) {
  if (indices.size() != layout.ndim()) {
    throw ShapeError(
        format_text("%s: %zu indices for a tensor of %zu dimensions, %s. Pass one index for each "
                    "dimension.",
                    operation, indices.size(), layout.ndim(), to_string(layout.sizes).c_str()));
  }
  std::int64_t element = layout.offset;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const std::int64_t size = layout.sizes[axis];
    const std::int64_t index = indices[axis] < 0 ? indices[axis] + size : indices[axis];
    if (index < 0 || index >= size) {
      detail::refuse_index(layout, axis, indices[axis], operation);
    }
    element += index * layout.strides[axis];
  }
  return element;
}

void detail::refuse_index(const Layout& layout, std::size_t axis, std::int64_t index,
                          const char* operation) {
  throw ShapeError(format_text("%s: index %lld is out of range for dimension %zu of %s.", operation,
                               static_cast<long long>(index), axis,
                               to_string(layout.sizes).c_str()));
}

bool may_overlap_itself(const Layout& layout) noexcept {
  // At most 63 dimensions have two elements or more, because the number of elements fits 63 bits.
  std::array<Run, 63> all_runs{};
  std::size_t count = 0;
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    if (layout.sizes[axis] == 0) {
      return false;
    }
    if (layout.sizes[axis] > 1) {
      all_runs[count++] = {layout.sizes[axis], layout.strides[axis]};
    }
  }
  const std::span runs(all_runs.data(), count);
  std::ranges::sort(runs, {}, &Run::stride);
  std::int64_t reached = 0;  // the largest offset within the dimensions with smaller strides
  for (const Run& run : runs) {
    if (run.stride <= reached) {
      return true;
    }
    reached += (run.size - 1) * run.stride;
  }
  return false;
}

}  // namespace byre::inline BYRE_ABI
