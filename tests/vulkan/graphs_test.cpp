// SPDX-License-Identifier: BSL-1.0
/// Programs on the device: functionalized, batched, and as graphs that are one command buffer.
#include <gtest/gtest.h>
#include <byre/functional/batching/vmap.hpp>
#include <byre/functional/functionalize/capture.hpp>
#include <byre/functional/functionalize/transform.hpp>
#include <byre/functional/graph/recording.hpp>

#include "backend.hpp"
#include "vulkan/device/faults.hpp"

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

Graph graph_of(const Program& captured, const Tensors& examples) {
  Graph graph = capture(captured, examples).graph;
  eliminate_common_subexpressions(graph);
  eliminate_dead_code(graph);
  return graph;
}

/// Neighbours of a grid's cells, with what they were before and after a part of it is written.
Tensors spread(const Tensors& in) {
  const AnyTensor rows = call_for_one("slice", {in[0], 0, 1, -1});
  const AnyTensor cells = call_for_one("slice", {rows, 1, 1, -1});
  const AnyTensor left = call_for_one("slice", {rows, 1, 0, -2});
  const AnyTensor right = call_for_one("slice", {rows, 1, 2});
  const AnyTensor around = call_for_one("add", {left, right});
  call("sub_", {around, call_for_one("mul.scalar", {cells, 2.0})});
  call("mul_.scalar", {around, 0.3});
  call("add_", {cells, around});
  const AnyTensor first = call_for_one("select", {in[0], 0, 0});
  call("copy_", {first, call_for_one("select", {in[0], 0, 1})});
  call("relu_", {cells});
  call("div_.scalar", {around, 3.0});
  return {call_for_one("exp", {around})};
}

Tensor counted_grid(std::int64_t rows, std::int64_t columns) {
  Tensor grid = Tensor::empty({rows, columns}, DType::f32);
  for (std::int64_t index = 0; index < grid.numel(); ++index) {
    grid.mutable_data<float>()[index] = static_cast<float>(index * 37 % 101) / 7.0F - 5.0F;
  }
  return grid;
}

std::ptrdiff_t fused_kernels_of(const VulkanGraph& graph) {
  return std::ranges::count_if(
      graph.steps(), [](const Step& step) { return std::holds_alternative<FusedKernel>(step); });
}

TEST(VulkanGraphs, compute_what_their_programs_compute) {
  const Tensor grid = counted_grid(9, 40);
  const Graph graph = graph_of(spread, {from_cpu(grid)});
  const Tensors expected = execute(graph, {from_cpu(grid)});
  for (const Fuse fuse : {Fuse::no, Fuse::yes}) {
    const VulkanGraph on_vulkan(graph, fuse);
    EXPECT_EQ(fused_kernels_of(on_vulkan) != 0, fuse == Fuse::yes);
    const AnyTensor input = to_vulkan(grid);
    const Tensors outputs = on_vulkan.run({input});
    ASSERT_EQ(outputs.size(), expected.size());
    EXPECT_TRUE(are_same(from_vulkan(outputs[0]), to_cpu(expected[0])));
    EXPECT_LE(distance(from_vulkan(outputs[1]), to_cpu(expected[1])), 3);
    EXPECT_TRUE(are_same(from_vulkan(input), grid)) << "the caller has the input too";
  }
}

TEST(VulkanGraphs, are_one_submission_with_a_barrier_only_between_what_depends) {
  const VulkanGraph on_vulkan(graph_of(spread, {from_cpu(counted_grid(9, 40))}), Fuse::no);
  Tensors inputs{to_vulkan(counted_grid(9, 40))};
  Gpu::get().queue().wait_idle();
  const Counted queue;
  on_vulkan.run(std::move(inputs));
  EXPECT_EQ(queue.now().submissions, 1U);
  EXPECT_EQ(queue.host_copies(), 0U);
  EXPECT_LT(queue.now().barriers, queue.now().dispatches)
      << "the three copies of views may overlap";
  EXPECT_GT(queue.now().barriers, 0U);
}

TEST(VulkanGraphs, of_many_operators_are_one_submission_too) {
  const Program chain = [](const Tensors& in) {
    AnyTensor value = in[0];
    for (unsigned step = 0; step < 2 * Queue::commands_per_submission; ++step) {
      value = call_for_one("neg", {value});
    }
    return Tensors{value};
  };
  const VulkanGraph on_vulkan(graph_of(chain, {from_cpu(counted_grid(3, 5))}), Fuse::no);
  const AnyTensor input = to_vulkan(counted_grid(3, 5));
  Gpu::get().queue().wait_idle();
  const Counted queue;
  on_vulkan.run({input});
  EXPECT_EQ(queue.now().submissions, 1U);
  EXPECT_GT(queue.now().dispatches, Queue::commands_per_submission);
}

TEST(VulkanGraphs, compute_operations_together) {
  const Program polynomial = [](const Tensors& in) {
    AnyTensor sum = in[0];
    for (int power = 0; power < 5; ++power) {
      sum = call_for_one("add.scalar", {call_for_one("mul", {sum, in[0]}), 0.5});
    }
    return Tensors{sum};
  };
  const Tensor x = counted_grid(3, 50);
  const Graph graph = graph_of(polynomial, {from_cpu(x)});
  const VulkanGraph on_vulkan(graph);
  Tensors inputs{to_vulkan(x)};
  const TensorImpl* const memory = &inputs[0].impl();
  const Counted queue;
  const Tensors outputs = on_vulkan.run(std::move(inputs));
  EXPECT_EQ(queue.now().dispatches, 1U);
  EXPECT_EQ(&outputs[0].impl(), memory) << "what was moved is written in place";
  EXPECT_TRUE(are_same(from_vulkan(outputs[0]), to_cpu(execute(graph, {from_cpu(x)})[0])));
}

TEST(VulkanGraphs, read_before_they_write_what_they_read_elsewhere) {
  const Program shifted = [](const Tensors& in) {
    const AnyTensor flipped = call_for_one("permute_copy", {in[0], {1, 0}});
    return Tensors{call_for_one("add", {call_for_one("mul.scalar", {in[0], 3.0}), flipped})};
  };
  const Tensor x = counted_grid(600, 600);
  const Graph graph = graph_of(shifted, {from_cpu(x)});
  Tensors inputs{to_vulkan(x)};
  const Tensors outputs = VulkanGraph(graph).run(std::move(inputs));
  EXPECT_TRUE(are_same(from_vulkan(outputs[0]), to_cpu(execute(graph, {from_cpu(x)})[0])));
}

TEST(VulkanGraphs, need_memory_for_what_is_still_used_alone) {
  const Program chain = [](const Tensors& in) {
    AnyTensor value = in[0];
    for (int step = 0; step < 20; ++step) {
      value = call_for_one("relu", {call_for_one("add", {value, value})});
    }
    return Tensors{value};
  };
  const Tensor x = counted_grid(512, 1024);
  const VulkanGraph on_vulkan(graph_of(chain, {from_cpu(x)}), Fuse::no);
  Tensors inputs{to_vulkan(x)};
  DeviceMemory& memory = Gpu::get().memory();
  Gpu::get().queue().wait_idle();
  const std::size_t before = memory.live_nbytes();
  memory.reset_peak();
  on_vulkan.run(std::move(inputs));
  Gpu::get().queue().wait_idle();
  EXPECT_LE(memory.peak_nbytes() - before, x.nbytes());
}

/// Of an operator from element to element: value 0 is the input, and value 1 the output.
Graph graph_of_one(const char* name, const Tensor& example) {
  return capture([name](const Tensors& in) { return Tensors{call_for_one(name, {in[0]})}; },
                 {from_cpu(example)})
      .graph;
}

TEST(VulkanGraphs, need_no_memory_for_an_input_that_they_do_not_use) {
  const Tensor x = counted_grid(512, 1024);
  Graph graph = graph_of_one("relu", x);
  graph.inputs.push_back(graph.inputs.front());
  graph.outputs = {{2}};
  for (const Fuse fuse : {Fuse::no, Fuse::yes}) {
    const VulkanGraph on_vulkan(graph, fuse);
    const AnyTensor kept = to_vulkan(x);
    Tensors inputs{kept, to_vulkan(x)};
    DeviceMemory& memory = Gpu::get().memory();
    Gpu::get().queue().wait_idle();
    const std::size_t before = memory.live_nbytes();
    memory.reset_peak();
    on_vulkan.run(std::move(inputs));
    EXPECT_EQ(memory.peak_nbytes(), before) << "the output may be where the input was";
  }
}

TEST(VulkanGraphs, return_each_output_as_a_tensor_of_its_own) {
  const Tensor x = counted_grid(3, 4);
  Graph graph = graph_of_one("neg", x);
  graph.outputs = {{0}, {0}, {1}, {1}};
  const AnyTensor input = to_vulkan(x);
  const Tensors outputs = VulkanGraph(graph).run({input});
  ASSERT_EQ(outputs.size(), 4U);
  for (std::size_t first = 0; first < outputs.size(); ++first) {
    EXPECT_NE(&outputs[first].impl(), &input.impl());
    for (std::size_t second = 0; second < first; ++second) {
      EXPECT_NE(&outputs[first].impl(), &outputs[second].impl());
    }
    EXPECT_TRUE(are_same(from_vulkan(outputs[first]), first < 2 ? x : neg(x)));
  }
}

TEST(VulkanGraphs, keep_their_constants_on_the_device) {
  const Tensor weights = counted_grid(4, 4);
  const Program scaled = [&weights](const Tensors& in) {
    return Tensors{call_for_one("matmul", {in[0], from_cpu(weights)})};
  };
  const VulkanGraph on_vulkan(graph_of(scaled, {from_cpu(counted_grid(4, 4))}));
  const AnyTensor x = to_vulkan(weights);
  const Counted queue;
  const Tensors first = on_vulkan.run({x});
  const Tensors second = on_vulkan.run({x});
  EXPECT_EQ(queue.host_copies(), 0U);
  EXPECT_LE(distance(from_vulkan(first[0]), matmul(weights, weights)), 4);
  EXPECT_TRUE(are_same(from_vulkan(first[0]), from_vulkan(second[0])));
}

TEST(VulkanGraphs, tell_that_the_driver_refused_what_they_compute) {
  const Tensor x = counted_grid(3, 4);
  const VulkanGraph on_vulkan(graph_of_one("neg", x));
  const AnyTensor input = to_vulkan(x);
  on_vulkan.run({input});
  faults::fail_submit(1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
  EXPECT_THROW(on_vulkan.run({input}), VulkanError);
  faults::clear();
  EXPECT_TRUE(are_same(from_vulkan(on_vulkan.run({input})[0]), neg(x)));
}

/// Whoever records, or runs a program under functionalize, may have a graph compute what is none of either.
TEST(VulkanGraphs, compute_on_the_device_alone_whatever_a_thread_includes) {
  const Program zeros_and_one = [](const Tensors& in) {
    return Tensors{call_for_one("matmul", {call_for_one("zeros", {{4, 3}}), in[0]})};
  };
  const Tensor x = counted_grid(3, 4);
  const VulkanGraph on_vulkan(capture(zeros_and_one, {from_cpu(x)}).graph, Fuse::no);
  const AnyTensor input = to_vulkan(x);
  for (const Key key : {Key::graph, Key::batched, Key::functionalize}) {
    const IncludeKeys others(key);
    EXPECT_TRUE(
        are_same(from_vulkan(on_vulkan.run({input})[0]), Tensor::zeros({4, 4}, DType::f32)));
  }
}

TEST(VulkanGraphs, refuse_other_inputs_and_graphs_with_views) {
  const Graph graph = graph_of(spread, {from_cpu(counted_grid(9, 40))});
  EXPECT_THROW(execute_on_vulkan(graph, {}), ArgumentError);
  EXPECT_THROW(execute_on_vulkan(graph, {AnyTensor()}), ArgumentError);
  const AnyTensor right = to_vulkan(counted_grid(9, 40));
  EXPECT_THROW(execute_on_vulkan(graph, {right, right}), ArgumentError);
  EXPECT_THROW(execute_on_vulkan(graph, {to_vulkan(counted_grid(9, 41))}), ArgumentError);
  const Graph with_views =
      capture(spread, {from_cpu(counted_grid(9, 40))}, {.reapply_views = true}).graph;
  EXPECT_THROW(VulkanGraph{with_views}, GraphError);
}

TEST(VulkanGraphs, refuse_what_no_recording_makes) {
  const Tensor x = counted_grid(2, 2);
  const Graph sum = graph_of(
      [](const Tensors& in) {
        return Tensors{call_for_one("add", {in[0], in[0]})};
      },
      {from_cpu(x)});
  Graph makes_an_output_of_nothing = sum;
  makes_an_output_of_nothing.outputs.push_back({77});
  Graph takes_what_it_makes = sum;
  takes_what_it_makes.nodes[0].arguments[0] = sum.outputs[0];
  Graph has_too_few_arguments = sum;
  has_too_few_arguments.nodes[0].arguments.pop_back();
  for (const Graph& graph :
       {makes_an_output_of_nothing, takes_what_it_makes, has_too_few_arguments}) {
    for (const Fuse fuse : {Fuse::no, Fuse::yes}) {
      EXPECT_THROW((VulkanGraph{graph, fuse}), GraphError);
    }
  }
}

}  // namespace
}  // namespace examples::vulkan::test
