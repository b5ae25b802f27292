// SPDX-License-Identifier: BSL-1.0
/// Programs on the device, and which tensors their operators share lazily, take over or copy.
#include <gtest/gtest.h>

#include <byre/functional/functionalize/capture.hpp>

#include "backend.hpp"
#include "support/at_once.hpp"
#include "vulkan/backend/kernels.hpp"

namespace examples::vulkan::test {
namespace {

Tensor counted(const Dims& sizes, int first = 0) {
  Tensor made = Tensor::empty(sizes, DType::f32);
  for (std::int64_t index = 0; index < made.numel(); ++index) {
    made.mutable_data<float>()[index] = static_cast<float>((first + index * 37) % 101 - 50) / 4;
  }
  return made;
}

const Storage& storage_of(const AnyTensor& tensor) {
  return tensor.as<VulkanTensor>()->storage();
}

bool share(const AnyTensor& a, const AnyTensor& b) {
  return storage_of(a).data() == storage_of(b).data();
}

/// Rows of a grid take from their neighbours what is written in place.
Tensors spread(const Tensors& in) {
  const AnyTensor inside = call_for_one("slice", {in[0], 0, 1, -1});
  const AnyTensor around = call_for_one(
      "add", {call_for_one("slice", {in[0], 0, 0, -2}), call_for_one("slice", {in[0], 0, 2})});
  call("mul_.scalar", {inside, 0.5});
  call("add_", {inside, around});
  return {call_for_one("matmul", {inside, from_cpu(counted({17, 3}))})};
}

/// The first use of a shader makes its pipeline.
TEST(VulkanPrograms, run_on_threads_at_once) {
  const Graph graph = capture(spread, {from_cpu(counted({33, 17}))}).graph;
  byre::test::at_once(4, [&](std::size_t thread) {
    for (int round = 0; round < 12; ++round) {
      const Tensor own = counted({33, 17}, static_cast<int>(1000 * thread) + round);
      const Tensors expected = execute(graph, {from_cpu(own)});
      const Tensors computed = execute(graph, {to_vulkan(own)});
      EXPECT_TRUE(are_same(from_vulkan(computed[0]), to_cpu(expected[0])));
      EXPECT_TRUE(are_same(from_vulkan(computed[1]), to_cpu(expected[1]))) << "all sums are exact";
    }
  });
}

TEST(VulkanSharing, is_what_operators_do_that_change_nothing) {
  const AnyTensor x = to_vulkan(counted({6, 4}));
  const AnyTensor other = to_vulkan(counted({6, 4}));
  const AnyTensor nothing = to_vulkan(counted({0, 4}));
  const Counted queue;
  EXPECT_TRUE(share(call_for_one("to", {x, DType::f32}), x));
  EXPECT_TRUE(share(call_for_one("slice_copy", {x, 0, 0, 6, 1}), x));
  EXPECT_TRUE(share(call_for_one("slice_scatter", {x, other, 0, 0, 6, 1}), other));
  EXPECT_TRUE(share(call_for_one("slice_scatter", {x, nothing, 0, 2, 2, 1}), x));
  EXPECT_EQ(queue.dispatches(), 0U);
  EXPECT_EQ(queue.copies(), 0U);
}

TEST(VulkanSharing, leaves_a_base_to_the_scatter_that_has_its_only_handle) {
  for (const bool has_handle : {false, true}) {
    for (const bool has_clone : {false, true}) {
      const Tensor host = counted({600, 4});
      Arguments arguments{to_vulkan(host), to_vulkan(counted({2, 4})), 0, 1, 3, 1};
      const AnyTensor handle = has_handle ? arguments[0].tensor() : AnyTensor();
      const auto& base = *arguments[0].tensor().as<VulkanTensor>();
      const AnyTensor clone = has_clone ? AnyTensor(lazy_clone(base)) : AnyTensor();
      const void* const data = base.storage().data();
      const Counted queue;
      const AnyTensor result = call_for_one("slice_scatter", std::move(arguments));
      EXPECT_EQ(queue.dispatches(), 1U);
      EXPECT_EQ(queue.copies(), has_handle || has_clone ? 1U : 0U);
      EXPECT_EQ(storage_of(result).data() == data, !has_handle && !has_clone);
      for (const AnyTensor& kept : {handle, clone}) {
        EXPECT_TRUE(!kept || are_same(from_vulkan(kept), host));
      }
    }
  }
}

}  // namespace
}  // namespace examples::vulkan::test
