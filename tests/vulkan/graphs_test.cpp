// SPDX-License-Identifier: BSL-1.0
/// Programs on the device: functionalized, batched, and as graphs that are one command buffer.
#include <gtest/gtest.h>
#include <byre/functional/batching/vmap.hpp>
#include <byre/functional/functionalize/capture.hpp>
#include <byre/functional/functionalize/transform.hpp>
#include <byre/functional/graph/recording.hpp>

#include "backend.hpp"

namespace examples::vulkan::test {
namespace {

AnyTensor counted_on_device(std::int64_t count) {
  const IncludeKeys also_of_numbers(vulkan_backend());
  return call_for_one("arange", {count, DType::f32});
}

/// Views that are written, and read after.
Tensors program(const Tensors& in) {
  const AnyTensor inside = call_for_one("slice", {in[0], 0, 1, -1});
  const AnyTensor left = call_for_one("slice", {in[0], 0, 0, -2});
  const AnyTensor right = call_for_one("slice", {in[0], 0, 2});
  const AnyTensor around = call_for_one("add", {left, right});
  call("mul_.scalar", {around, 0.25});
  call("mul_.scalar", {inside, 0.5});
  call("add_", {inside, around});
  return {call_for_one("sum", {in[0]})};
}

TEST(VulkanPrograms, with_views_and_writes_run_under_functionalize) {
  const Lowering on_vulkan{vulkan_backend(), to_vulkan, from_vulkan};
  const AnyTensor x = from_cpu(Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6}));
  const AnyTensor y = from_cpu(Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6}));
  const Tensors on_device = functionalize_on(on_vulkan, program)({x});
  const Tensors on_host = program({y});
  EXPECT_TRUE(are_same(to_cpu(on_device[0]), to_cpu(on_host[0])));
  EXPECT_TRUE(are_same(to_cpu(x), to_cpu(y)));
}

TEST(VulkanPrograms, on_tensors_of_the_device_neither_upload_nor_download) {
  const AnyTensor x = counted_on_device(1000);
  const Counted queue;
  functionalize(program)({x});
  EXPECT_EQ(queue.host_copies(), 0U);
  const AnyTensor y = from_cpu(from_vulkan(counted_on_device(1000)));
  program({y});
  EXPECT_TRUE(are_same(from_vulkan(x), to_cpu(y)));
}

TEST(VulkanPrograms, run_in_batches) {
  const Program dot = [](const Tensors& in) {
    return Tensors{call_for_one("sum", {call_for_one("mul", {in[0], in[1]})})};
  };
  const AnyTensor x = call_for_one("reshape", {counted_on_device(6), {2, 3}});
  EXPECT_EQ(text_of(vmap(dot)({x, x})[0]), "[ 5. 50.]");
}

Graph graph_of(std::int64_t count) {
  return capture(functionalize([](const Tensors& in) {
                   program(in);
                   return Tensors{in[0]};
                 }),
                 {from_cpu(Tensor::zeros({count}, DType::f32))})
      .graph;
}

}  // namespace
}  // namespace examples::vulkan::test
