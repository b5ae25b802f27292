// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/accessor.hpp>

namespace byre::inline v0::detail {

void expect_accessible(const Tensor& tensor, std::size_t ndim, const char* operation) {
  if (!tensor.device().is_cpu()) {
    throw DeviceError(
        format_text("%s: the tensor is on %s, whose memory the host cannot address. Copy it with "
                    "to(Device::cpu()).",
                    operation, describe(tensor.device()).chars.data()));
  }
  if (tensor.ndim() != ndim) {
    throw ShapeError(
        format_text("%s: for %zu dimensions, of a tensor that has %zu, %s. Name as many as it has.",
                    operation, ndim, tensor.ndim(), to_string(tensor.sizes()).c_str()));
  }
}

void expect_unique_elements(const Tensor& tensor, const char* operation) {
  if (may_overlap_itself(tensor.layout())) {
    throw ShapeError(format_text(
        "%s: elements of the tensor share memory: it has sizes %s and strides %s. Use an accessor, "
        "or clone() it first.",
        operation, to_string(tensor.sizes()).c_str(), to_string(tensor.strides()).c_str()));
  }
}

}  // namespace byre::inline v0::detail
