// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/detail/operands.hpp>

#include <algorithm>
#include <new>
#include <vector>

namespace byre::inline BYRE_ABI::detail {

void expect_accessible(const Tensor& tensor, std::size_t ndim, const char* operation) {
  expect_tensor(tensor, operation);
  expect_host(tensor, operation);
  if (tensor.ndim() != ndim) {
    throw ShapeError(
        format_text("%s: %zu dimensions requested, the tensor has %zu: %s. Request %zu.", operation,
                    ndim, tensor.ndim(), to_string(tensor.sizes()).c_str(), tensor.ndim()));
  }
}

void expect_dtype_if_initialized(const Tensor& tensor, DType dtype, const char* operation) {
  if (tensor.is_dtype_initialized() && tensor.dtype() != dtype) {
    refuse_other_dtype(tensor, dtype, operation);
  }
}

Dims strides_for_mdspan(const Layout& layout, const char* operation) try {
  if (layout.numel() == 0) {
    return contiguous_layout(layout.sizes, operation).strides;
  }
  struct Step {
    std::int64_t stride;
    std::int64_t size;
  };
  Dims strides(layout.strides);
  std::vector<Step> steps;
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    if (layout.sizes[axis] == 1) {
      strides[axis] = 1;
    } else {
      steps.push_back({strides[axis], layout.sizes[axis]});
    }
  }
  std::ranges::sort(steps, {}, &Step::stride);
  std::int64_t least = 1;
  for (const Step& step : steps) {
    if (step.stride < least) {
      throw ShapeError(format_text(
          "%s: std::mdspan cannot express sizes %s with strides %s: elements share memory or "
          "interleave. Use an accessor, or clone() the tensor first.",
          operation, to_string(layout.sizes).c_str(), to_string(layout.strides).c_str()));
    }
    least = step.stride * step.size;
  }
  return strides;
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap(operation);
}

}  // namespace byre::inline BYRE_ABI::detail
