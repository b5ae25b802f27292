// SPDX-License-Identifier: BSL-1.0
#include <byre/interop/span.hpp>
#include <byre/tensor/detail/operands.hpp>

namespace byre::inline BYRE_ABI::detail {

void expect_span(const Tensor& tensor, const char* call) {
  expect_tensor(tensor, call);
  expect_host(tensor, call);
  if (!tensor.is_contiguous()) {
    throw ShapeError(
        format_text("%s: the tensor of sizes %.200s and strides %.200s is not contiguous. Call "
                    "contiguous(), which copies it, or use an accessor.",
                    call, to_string(tensor.sizes()).c_str(), to_string(tensor.strides()).c_str()));
  }
}

}  // namespace byre::inline BYRE_ABI::detail
