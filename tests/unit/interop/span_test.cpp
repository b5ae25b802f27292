// SPDX-License-Identifier: BSL-1.0
// Elements of tensors as std::span.
#include <byre/interop/span.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <vector>

#include "support/complaint.hpp"
#include "support/tensor/fake_device.hpp"

namespace byre::test {
namespace {

Tensor four() {
  return Tensor::of<float>({2, 2}, {1, 2, 3, 4});
}

TEST(Span, has_the_tensors_elements_without_a_copy) {
  const Tensor tensor = four().select(0, 1);
  const std::span<const float> seen = as_span<float>(tensor);
  EXPECT_EQ(seen.data(), tensor.data<float>());
  EXPECT_EQ(std::vector<float>(seen.begin(), seen.end()), (std::vector<float>{3, 4}));
}

TEST(Span, a_mutable_span_materializes_its_tensor) {
  Tensor tensor = four();
  const Tensor clone = tensor.lazy_clone();
  as_mutable_span<float>(tensor)[3] = 9;
  EXPECT_EQ(tensor.at<float>({1, 1}), 9);
  EXPECT_EQ(clone.at<float>({1, 1}), 4);
}

TEST(Span, a_tensor_that_is_not_contiguous_is_rejected) {
  Tensor tensor = four().t();
  EXPECT_TRUE(says(complaint_of<ShapeError>([&] { as_span<float>(tensor); }),
                   "as_span: the tensor of sizes [2, 2] and strides [1, 2] is not contiguous",
                   "contiguous()"));
  EXPECT_TRUE(
      says(complaint_of<ShapeError>([&] { as_mutable_span<float>(tensor); }), "as_mutable_span"));
}

TEST(Span, another_element_type_and_an_empty_handle_are_rejected) {
  EXPECT_THROW(as_span<double>(four()), DTypeError);
  EXPECT_THROW(as_span<float>(Tensor()), StateError);
}

TEST(Span, a_tensor_on_a_device_is_rejected) {
  const Tensor there = four().to(FakeDevice::first().device());
  EXPECT_TRUE(says(complaint_of<DeviceError>([&] { as_span<float>(there); }),
                   "as_span: the tensor is on", "to(Device::cpu())"));
}

}  // namespace
}  // namespace byre::test
