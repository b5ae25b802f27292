// SPDX-License-Identifier: BSL-1.0
// What fused kernels read, where, and what hostile ones compute.
#include <algorithm>
#include <vector>

#include "fusion.hpp"
#include "vulkan/backend/kernels.hpp"

namespace examples::vulkan::test {
namespace {

TEST(Fusion, keeps_the_signs_of_zeros) {
  const Program program = [](const Tensors& in) {
    return Tensors{call_for_one("mul.scalar", {in[0], 0}), call_for_one("add.scalar", {in[0], 0}),
                   call_for_one("sub", {call_for_one("zeros", {{3}}), in[0]})};
  };
  expect_same(program, {Tensor::of<float>({3}, {-1, -0.0F, 2})});
}

TEST(Fusion, makes_one_kernel_of_a_stencil_that_is_written_in_place) {
  const Program program = [](const Tensors& in) {
    const AnyTensor inside = part(part(in[0], 0, 1, -1), 1, 1, -1);
    const AnyTensor sum = call_for_one(
        "add", {part(part(in[0], 0, 0, -2), 1, 1, -1), part(part(in[0], 0, 2, 99), 1, 1, -1)});
    call("mul_.scalar", {inside, 0.5});
    call("add_", {inside, sum});
    return Tensors{};
  };
  const VulkanGraph fused = expect_same(program, {counted({9, 70})}, {.paths = ViewPaths::strides});
  ASSERT_EQ(steps_of(fused), "fused:1");
  const auto& kernel = std::get<FusedKernel>(fused.steps()[0]);
  EXPECT_EQ(operations_of(kernel), "load window number mul load load add add select store");
  // The grid's element is there for every thread, and those around it for threads of the inside.
  EXPECT_EQ(windows_of_loads(kernel), "0 2 2");
  EXPECT_EQ(kernel.reads_own_element, std::vector<bool>{false});
}

TEST(Fusion, sees_windows_in_windows) {
  const Program program = [](const Tensors& in) {
    const AnyTensor rows = part(in[0], 0, 2, 9);
    const AnyTensor cells = part(part(rows, 0, 1, 6), 1, 3, 20);
    call("mul_.scalar", {cells, 0.5});
    call("add_", {rows, call_for_one("mul.scalar", {rows, 0.25})});
    return Tensors{call_for_one("neg", {cells})};
  };
  expect_same(program, {counted({11, 21})});
  expect_same(program, {counted({11, 21})}, {.paths = ViewPaths::strides});
}

/// As one function, so that a scatter's source is a scatter.
TEST(Fusion, sees_scatters_into_what_is_scattered) {
  const Program program = [](const Tensors& in) {
    const AnyTensor source =
        call_for_one("slice_scatter", {in[1], call_for_one("mul.scalar", {in[2], 3}), 0, 2, 5, 1});
    return Tensors{call_for_one("slice_scatter", {in[0], source, 0, 3, 9, 1})};
  };
  const VulkanGraph fused =
      expect_same(program, {counted({10, 4}), counted({6, 4}, 50), counted({3, 4}, 90)});
  ASSERT_EQ(steps_of(fused), "fused:1");
  const auto& kernel = std::get<FusedKernel>(fused.steps()[0]);
  EXPECT_EQ(operations_of(kernel), "load window load window load number mul select select store");
  EXPECT_EQ(windows_of_loads(kernel), "0 2 4");
  EXPECT_EQ(kernel.instructions[3].b, 2) << "the inner window is within the outer";
}

TEST(Fusion, knows_which_elements_threads_read_and_write) {
  const auto first_kernel = [](const Program& program, const std::vector<Tensor>& inputs) {
    return std::get<FusedKernel>(expect_same(program, inputs).steps().at(0));
  };
  const Program own_first = [](const Tensors& in) {
    return Tensors{call_for_one("sub", {in[0], call_for_one("permute", {in[0], {1, 0}})})};
  };
  const Program own_last = [](const Tensors& in) {
    return Tensors{call_for_one("sub", {call_for_one("permute", {in[0], {1, 0}}), in[0]})};
  };
  const Program beginning = [](const Tensors& in) {
    return Tensors{call_for_one("neg", {part(in[0], 0, 0, 3)})};
  };
  const Program twice = [](const Tensors& in) {
    return Tensors{call_for_one("mul", {call_for_one("add", {in[0], in[0]}), in[0]})};
  };
  EXPECT_EQ(first_kernel(own_first, {counted({5, 5})}).reads_own_element, std::vector{false});
  EXPECT_EQ(first_kernel(own_last, {counted({5, 5})}).reads_own_element, std::vector{false});
  EXPECT_EQ(first_kernel(beginning, {counted({5, 4})}).reads_own_element, std::vector{false})
      << "the input has other sizes than the output";
  EXPECT_EQ(first_kernel(twice, {counted({5, 4})}).reads_own_element, std::vector{true});
  EXPECT_EQ(operations_of(first_kernel(twice, {counted({5, 4})})), "load add mul store");
}

TEST(Fusion, compiles_kernels_once_that_differ_in_numbers_alone) {
  const auto kernel_of = [](double first, double second) {
    const Program program = [=](const Tensors& in) {
      return Tensors{
          call_for_one("add.scalar", {call_for_one("mul.scalar", {in[0], first}), second})};
    };
    return std::get<FusedKernel>(expect_same(program, {counted({6})}).steps().at(0));
  };
  const FusedKernel one = kernel_of(0.5, 3);
  const FusedKernel other = kernel_of(0.25, -0.0);
  EXPECT_EQ(one.instructions, other.instructions);
  EXPECT_EQ(one.parameters, other.parameters);
  EXPECT_EQ(one.numbers, (std::vector{0.5F, 3.0F}));
  EXPECT_EQ(kernel_of(2, 2).numbers, std::vector{2.0F});
  EXPECT_EQ(kernel_of(0.0, -0.0).numbers.size(), 2U) << "the sign is kept";
}

TEST(Fusion, leaves_memory_that_somebody_has_a_handle_of) {
  const Program program = [](const Tensors& in) { return Tensors{call_for_one("neg", {in[0]})}; };
  const Tensor numbers = counted({6});
  const VulkanGraph fused(capture(program, {from_cpu(numbers)}).graph);
  Tensors inputs{to_vulkan(numbers)};
  const Storage kept = inputs[0].as<VulkanTensor>()->storage();
  const Tensors outputs = fused.run(std::move(inputs));
  EXPECT_NE(outputs[0].as<VulkanTensor>()->storage().data(), kept.data());
  EXPECT_TRUE(are_same(from_vulkan(outputs[0]), neg(numbers)));
}

TEST(Fusion, copies_nothing_of_what_is_shared_lazily) {
  const Program program = [](const Tensors& in) { return Tensors{call_for_one("neg", {in[0]})}; };
  const Tensor numbers = counted({6});
  const VulkanGraph fused(capture(program, {from_cpu(numbers)}).graph);
  const AnyTensor kept = to_vulkan(numbers);
  Tensors inputs{lazy_clone(*kept.as<VulkanTensor>())};
  const Counted queue;
  const Tensors outputs = fused.run(std::move(inputs));
  EXPECT_EQ(queue.now().copies, 0U);
  EXPECT_TRUE(are_same(from_vulkan(outputs[0]), neg(numbers)));
  EXPECT_TRUE(are_same(from_vulkan(fused.run({from_cpu(numbers)})[0]), neg(numbers)))
      << "what the CPU has is copied there";
}

TEST(Fusion, reads_past_what_was_written_elsewhere) {
  const Program program = [](const Tensors& in) {
    const AnyTensor before = part(in[0], 0, 0, 3);
    call("mul_.scalar", {part(in[0], 0, 3, 6), 2});
    call("add_", {before, before});
    return Tensors{call_for_one("neg", {part(in[0], 0, 6, 10)})};
  };
  for (const ViewPaths paths : {ViewPaths::chains, ViewPaths::strides}) {
    EXPECT_EQ(steps_of(expect_same(program, {counted({10, 3})}, {.paths = paths})),
              "fused:1 fused:1");
  }
}

TEST(Fusion, writes_boxes_that_end_where_their_base_does) {
  const Program program = [](const Tensors& in) {
    const auto written = [&in](const Dims& sizes, const Dims& strides, std::int64_t offset) {
      call("mul_.scalar", {call_for_one("as_strided", {in[0], sizes, strides, offset}), 3});
    };
    written({4}, {1}, 2);        // over the end of a row
    written({2, 2}, {1, 3}, 1);  // turned
    written({1, 3}, {9, 1}, 3);  // a row
    return Tensors{};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({3, 3})}, {.paths = ViewPaths::strides})),
            "fused:1 as_strided_scatter fused:1 as_strided_scatter fused:1");
}

TEST(Fusion, computes_each_plane_of_a_grid_for_itself) {
  const Program program = [](const Tensors& in) {
    const AnyTensor u = call_for_one("select", {in[0], 0, 0});
    const AnyTensor v = call_for_one("select", {in[0], 0, 2});
    const AnyTensor product = call_for_one("mul", {u, v});
    call("sub_", {u, product});
    call("add_", {v, product});
    return Tensors{};
  };
  const VulkanGraph fused =
      expect_same(program, {counted({3, 5, 7})}, {.paths = ViewPaths::strides});
  ASSERT_EQ(steps_of(fused), "fused:1");
  const auto& kernel = std::get<FusedKernel>(fused.steps()[0]);
  EXPECT_EQ(kernel.sizes[0], 1) << "a thread writes its element of each plane";
  EXPECT_EQ(std::ranges::count(kernel.instructions, Instruction::mul, &Instruction::operation), 1)
      << "of both planes that need it";
  EXPECT_EQ(std::ranges::count(kernel.instructions, Instruction::window, &Instruction::operation),
            0)
      << "a plane is in a part or is not";
}

TEST(Fusion, computes_many_planes_by_a_thread_for_each_element) {
  const Program program = [](const Tensors& in) {
    call("mul_.scalar", {part(in[0], 0, 1, 4), 3});
    return Tensors{};
  };
  const VulkanGraph fused =
      expect_same(program, {counted({5, 3, 2})}, {.paths = ViewPaths::strides});
  ASSERT_EQ(steps_of(fused), "fused:1");
  EXPECT_EQ(std::get<FusedKernel>(fused.steps()[0]).sizes[0], 5);
}

TEST(Fusion, broadcasts_and_takes_sizes_of_one) {
  const Program program = [](const Tensors& in) {
    const AnyTensor sum = call_for_one("add", {in[0], in[1]});
    return Tensors{call_for_one("mul", {sum, in[2]}), call_for_one("relu", {in[1]})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({4, 1, 6}), counted({5, 1}), counted({1})})),
            "fused:1 fused:1")
      << "one for outputs of each sizes";
  expect_same(program, {counted({1, 1, 1}), counted({1, 1}), counted({1})});
  expect_same(program, {counted({2, 0, 6}), counted({1, 6}), counted({1})});
}

TEST(Fusion, reads_by_steps_and_transposed) {
  const Program program = [](const Tensors& in) {
    const AnyTensor steps = call_for_one("slice", {in[0], 1, 1, NoValue(), 3});
    const AnyTensor turned = call_for_one("permute", {in[1], {1, 0}});
    const AnyTensor sum = call_for_one("add", {steps, turned});
    call("mul_.scalar", {call_for_one("slice", {in[0], 0, 0, NoValue(), 2}), 2});
    return Tensors{call_for_one("neg", {sum}), call_for_one("add", {in[0], in[0]})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({4, 10}), counted({3, 4})})),
            "fused:1 fused:1 slice_scatter fused:1")
      << "a part of every second row is no box";
}

}  // namespace
}  // namespace examples::vulkan::test
