// SPDX-License-Identifier: BSL-1.0
/// Threads that use the backend at once.
#include <gtest/gtest.h>
#include <byre/functional/functionalize/capture.hpp>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "backend.hpp"
#include "vulkan/backend/kernels.hpp"

namespace examples::vulkan::test {
namespace {

constexpr int threads = 4;
constexpr int rounds = 12;

/// Cells take from their neighbours what is written in place.
Tensors diffuse(const Tensors& in) {
  const AnyTensor inside = call_for_one("slice", {in[0], 0, 1, -1});
  const AnyTensor around = call_for_one(
      "add", {call_for_one("slice", {in[0], 0, 0, -2}), call_for_one("slice", {in[0], 0, 2})});
  call("mul_.scalar", {inside, 0.5});
  call("add_", {inside, around});
  return {call_for_one("relu", {inside}), call_for_one("mul", {around, around})};
}

Tensor numbers(int first) {
  Tensor made = Tensor::empty({33, 17}, DType::f32);
  for (std::int64_t index = 0; index < made.numel(); ++index) {
    made.mutable_data<float>()[index] = static_cast<float>((first + index * 37) % 101 - 50) / 4;
  }
  return made;
}

/// Each calls `work(thread, round)`, which returns what is wrong; all starts are as close as they get.
template <class Work>
void at_once(const Work& work) {
  std::array<std::string, threads> complaints;
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back(
        [&work, &complaint = complaints.at(static_cast<std::size_t>(thread)), thread] {
          for (int round = 0; round < rounds && complaint.empty(); ++round) {
            complaint = work(thread, round);
          }
        });
  }
  for (std::thread& each : running) {
    each.join();
  }
  for (const std::string& complaint : complaints) {
    EXPECT_EQ(complaint, "");
  }
}

std::string differs(const Tensors& on_device, const Tensors& expected) {
  for (std::size_t index = 0; index < expected.size(); ++index) {
    if (!are_same(from_vulkan(on_device[index]), to_cpu(expected[index]))) {
      return "output " + std::to_string(index) + " is " + text_of(on_device[index]);
    }
  }
  return "";
}

TEST(Threads, run_one_graph_at_once) {
  const Graph graph = capture(diffuse, {from_cpu(numbers(0))}).graph;
  for (const Fuse fuse : {Fuse::no, Fuse::yes}) {
    const VulkanGraph on_vulkan(graph, fuse);
    at_once([&](int thread, int round) {
      const Tensor own = numbers(1000 * thread + round);
      Tensors inputs{to_vulkan(own)};
      return differs(on_vulkan.run(std::move(inputs)), execute(graph, {from_cpu(own)}));
    });
  }
}

/// Each hands over a lazy clone of its own, which the graph may write where nobody shares it.
TEST(Threads, write_lazy_clones_of_one_tensor) {
  const Tensor first = numbers(7);
  const Graph graph = capture(diffuse, {from_cpu(first)}).graph;
  const VulkanGraph on_vulkan(graph);
  const AnyTensor shared = to_vulkan(first);
  const Tensors expected = execute(graph, {from_cpu(first)});
  at_once([&](int, int) {
    Tensors inputs{lazy_clone(*shared.as<VulkanTensor>())};
    return differs(on_vulkan.run(std::move(inputs)), expected);
  });
  EXPECT_TRUE(are_same(from_vulkan(shared), first));
}

/// The first use of a shader makes its pipeline.
TEST(Threads, call_operators_for_the_first_time) {
  at_once([](int thread, int round) {
    const Tensor own = numbers(1000 * thread + round);
    const AnyTensor x = to_vulkan(own);
    const AnyTensor y = from_cpu(own);
    return differs({call_for_one("sum", {x}), call_for_one("ge", {x, call_for_one("neg", {x})}),
                    call_for_one("cat", {Tensors{x, x}, 1})},
                   {call_for_one("sum", {y}), call_for_one("ge", {y, call_for_one("neg", {y})}),
                    call_for_one("cat", {Tensors{y, y}, 1})});
  });
}

}  // namespace
}  // namespace examples::vulkan::test
