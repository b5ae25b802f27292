// SPDX-License-Identifier: BSL-1.0
/// Which tensors operators share lazily, take over or copy.
#include <gtest/gtest.h>
#include <byre/functional/functionalize/capture.hpp>

#include "backend.hpp"
#include "vulkan/backend/kernels.hpp"

namespace examples::vulkan::test {
namespace {

AnyTensor numbers_on_device(const Dims& sizes) {
  Tensor numbers = Tensor::empty(sizes, DType::f32);
  fill_(numbers, 2);
  return to_vulkan(numbers);
}

const Storage& storage_of(const AnyTensor& tensor) {
  return tensor.as<VulkanTensor>()->storage();
}

bool share(const AnyTensor& a, const AnyTensor& b) {
  return storage_of(a).data() == storage_of(b).data();
}

TEST(Sharing, is_what_operators_do_that_change_nothing) {
  const AnyTensor x = numbers_on_device({6, 4});
  const AnyTensor other = numbers_on_device({6, 4});
  const AnyTensor nothing = numbers_on_device({0, 4});
  const Counted queue;
  EXPECT_TRUE(share(call_for_one("to", {x, DType::f32}), x));
  EXPECT_TRUE(share(call_for_one("slice_copy", {x, 0, 0, 6, 1}), x));
  EXPECT_TRUE(share(call_for_one("slice_scatter", {x, other, 0, 0, 6, 1}), other));
  EXPECT_TRUE(share(call_for_one("slice_scatter", {x, nothing, 0, 2, 2, 1}), x));
  EXPECT_EQ(queue.now().dispatches, 0U);
  EXPECT_EQ(queue.now().copies, 0U);
}

/// By a graph, whose values have no other handle.
VulkanGraph graph_of_operators(const Program& program, const Tensors& like) {
  Tensors examples;
  for (const AnyTensor& each : like) {
    examples.push_back(from_cpu(from_vulkan(each)));
  }
  return VulkanGraph(capture(program, examples).graph, Fuse::no);
}

TEST(Sharing, leaves_a_base_to_the_scatter_that_needs_it_last) {
  const Tensors like{numbers_on_device({6, 4}), numbers_on_device({2, 4})};
  const VulkanGraph graph = graph_of_operators(
      [](const Tensors& in) {
        return Tensors{
            call_for_one("slice_scatter", {call_for_one("neg", {in[0]}), in[1], 0, 1, 3, 1})};
      },
      like);
  const Counted queue;
  const Tensors outputs = graph.run(like);
  EXPECT_EQ(queue.now().copies, 0U);
  EXPECT_EQ(queue.now().dispatches, 2U);
}

TEST(Sharing, keeps_operators_from_writing_in_place) {
  const VulkanGraph graph =
      graph_of_operators([](const Tensors& in) { return Tensors{call_for_one("neg", {in[0]})}; },
                         {numbers_on_device({6})});
  const AnyTensor kept = numbers_on_device({6});
  Tensors lazily{lazy_clone(*kept.as<VulkanTensor>())};
  const Counted queue;
  EXPECT_FALSE(share(graph.run(std::move(lazily))[0], kept));
  EXPECT_EQ(queue.now().copies, 0U) << "there is nothing of it to keep";

  Tensors handed_over{numbers_on_device({6})};
  const Storage handle = storage_of(handed_over[0]);
  EXPECT_NE(storage_of(graph.run(std::move(handed_over))[0]).data(), handle.data());
}

}  // namespace
}  // namespace examples::vulkan::test
