// SPDX-License-Identifier: BSL-1.0
// Which operators of a graph become one kernel, and what hostile ones compute.
#include <gtest/gtest.h>
#include <byre/functional/functionalize/capture.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <optional>
#include <string>
#include <variant>

#include "backend.hpp"
#include "vulkan/fusion/emitter.hpp"

namespace examples::vulkan::test {
namespace {

Tensor counted(const Dims& sizes, double first = -3.25) {
  Tensor tensor = Tensor::empty(sizes, DType::f32);
  for (std::int64_t index = 0; index < tensor.numel(); ++index) {
    tensor.mutable_data<float>()[index] =
        static_cast<float>(first + static_cast<double>(index) / 4);
  }
  return tensor;
}

/// Runs a program as a fused graph, and on the host: outputs, and what was written, are the same bit by bit.
VulkanGraph expect_same(const Program& program, const std::vector<Tensor>& inputs,
                        FunctionalizeOptions options = {}) {
  Tensors on_host;
  Tensors on_vulkan;
  for (const Tensor& input : inputs) {
    on_host.push_back(from_cpu(input.clone()));
    on_vulkan.push_back(to_vulkan(input));
  }
  const CapturedProgram captured = capture(program, on_host, options);
  VulkanGraph fused(captured.graph);
  const Tensors expected = execute(captured.graph, on_host);
  const Tensors kept = fused.run(on_vulkan);
  const Tensors handed_over = fused.run(std::move(on_vulkan));
  for (std::size_t index = 0; index < expected.size(); ++index) {
    EXPECT_TRUE(are_same(from_vulkan(kept[index]), to_cpu(expected[index]))) << index;
    EXPECT_TRUE(are_same(from_vulkan(handed_over[index]), to_cpu(expected[index])))
        << index << ", with inputs that may be written";
  }
  return fused;
}

/// What a run does: an operator's name, or "fused:" and how many values a kernel makes.
std::string steps_of(const VulkanGraph& graph) {
  std::string all;
  for (const Step& step : graph.steps()) {
    const auto* const node = std::get_if<std::size_t>(&step);
    all +=
        (all.empty() ? "" : " ") +
        (node != nullptr ? graph.graph().nodes[*node].op->name()
                         : "fused:" + std::to_string(std::get<FusedKernel>(step).outputs.size()));
  }
  return all;
}

std::string operations_of(const FusedKernel& kernel) {
  constexpr std::array names{"none", "load", "number", "window", "select", "add", "sub",  "mul",
                             "div",  "neg",  "relu",   "exp",    "ge",     "eq",  "store"};
  std::string all;
  for (const Instruction& instruction : kernel.instructions) {
    all += (all.empty() ? "" : " ") + std::string(names.at(instruction.operation));
  }
  return all;
}

/// The register, and one, of the window that each load is within, or 0.
std::string windows_of_loads(const FusedKernel& kernel) {
  std::string all;
  for (const Instruction& instruction : kernel.instructions) {
    if (instruction.operation == Instruction::load) {
      all += (all.empty() ? "" : " ") + std::to_string(instruction.b);
    }
  }
  return all;
}

std::ptrdiff_t kernels_of(const VulkanGraph& graph) {
  return std::ranges::count_if(
      graph.steps(), [](const Step& step) { return std::holds_alternative<FusedKernel>(step); });
}

AnyTensor part(const AnyTensor& x, std::int64_t axis, std::int64_t first, std::int64_t last) {
  return call_for_one("slice", {x, axis, first, last});
}

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
  expect_same(program, {counted({3, 3})}, {.paths = ViewPaths::strides});
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
    const AnyTensor steps = call_for_one("slice", {in[0], 1, 1, None(), 3});
    const AnyTensor turned = call_for_one("permute", {in[1], {1, 0}});
    const AnyTensor sum = call_for_one("add", {steps, turned});
    call("mul_.scalar", {call_for_one("slice", {in[0], 0, 0, None(), 2}), 2});
    return Tensors{call_for_one("neg", {sum}), call_for_one("add", {in[0], in[0]})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({4, 10}), counted({3, 4})})),
            "fused:1 fused:1 slice_scatter fused:1")
      << "a part of every second row is no box";
}

TEST(Fusion, parts_chains_that_are_longer_than_a_kernel) {
  const Program program = [](const Tensors& in) {
    AnyTensor value = in[0];
    for (int step = 0; step < 200; ++step) {
      value = call_for_one(step % 3 == 0 ? "add" : "sub", {value, in[0]});
    }
    return Tensors{value};
  };
  const VulkanGraph fused = expect_same(program, {counted({33})});
  for (const Step& step : fused.steps()) {
    EXPECT_LE(std::get<FusedKernel>(step).instructions.size(), fused_instructions);
  }
  EXPECT_EQ(steps_of(fused), "fused:1 fused:1 fused:1 fused:1 fused:1 fused:1 fused:1 fused:1");
}

TEST(Fusion, fills_kernels_to_their_last_instruction) {
  for (int operators = fused_instructions - 4; operators <= static_cast<int>(fused_instructions);
       ++operators) {
    const Program program = [operators](const Tensors& in) {
      AnyTensor value = in[0];
      for (int step = 0; step < operators; ++step) {
        value = call_for_one(step % 2 == 0 ? "neg" : "relu", {value});
      }
      return Tensors{value};
    };
    const VulkanGraph fused = expect_same(program, {counted({33})});
    EXPECT_EQ(kernels_of(fused) == 1, operators + 2 <= static_cast<int>(fused_instructions))
        << operators << ", with a load and a store";
  }
}

/// Of which there are 2^40 ways from the output to the input.
TEST(Fusion, computes_once_what_is_used_twice_on_the_way) {
  const Program program = [](const Tensors& in) {
    AnyTensor value = in[0];
    for (int step = 0; step < 40; ++step) {
      value = call_for_one("mul.scalar", {call_for_one("add", {value, value}), 0.5});
    }
    return Tensors{value};
  };
  const Graph graph = capture(program, {from_cpu(counted({5}))}).graph;
  EXPECT_LT(VulkanGraph(graph).steps().size(), 6U);
}

TEST(Fusion, parts_sums_of_more_inputs_than_a_kernel_has) {
  const Program program = [](const Tensors& in) {
    AnyTensor sum = in[0];
    for (std::size_t index = 1; index < in.size(); ++index) {
      sum = call_for_one("add", {sum, in[index]});
    }
    return Tensors{sum};
  };
  std::vector<Tensor> inputs;
  for (int index = 0; index < 8; ++index) {
    inputs.push_back(counted({6, 5}, index));
  }
  EXPECT_EQ(steps_of(expect_same(program, inputs)), "fused:1 fused:1 fused:1");
}

TEST(Fusion, computes_a_chain_that_several_kernels_need_once) {
  const Program program = [](const Tensors& in) {
    AnyTensor chain = in[0];
    for (int step = 0; step < 6; ++step) {
      chain = call_for_one("add", {call_for_one("mul.scalar", {chain, 0.5}), in[0]});
    }
    return Tensors{call_for_one("neg", {chain}), call_for_one("add", {chain, in[1]})};
  };
  const VulkanGraph fused = expect_same(program, {counted({5}), counted({3, 5})});
  EXPECT_EQ(steps_of(fused), "fused:1 fused:1 fused:1")
      << "it, and one for the outputs of each sizes";
}

TEST(Fusion, computes_what_is_cheap_anew_where_it_is_needed) {
  const Program program = [](const Tensors& in) {
    const AnyTensor twice = call_for_one("add", {in[0], in[0]});
    return Tensors{call_for_one("neg", {twice}), call_for_one("add", {twice, in[1]})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({5}), counted({3, 5})})), "fused:1 fused:1");
}

TEST(Fusion, takes_many_inputs_and_outputs) {
  const Program program = [](const Tensors& in) {
    Tensors outputs;
    AnyTensor sum = in[0];
    for (std::size_t index = 1; index < in.size(); ++index) {
      sum = call_for_one("add", {sum, in[index]});
      outputs.push_back(sum);
    }
    outputs.push_back(in[0]);
    outputs.push_back(sum);
    return outputs;
  };
  std::vector<Tensor> inputs;
  for (int index = 0; index < 12; ++index) {
    inputs.push_back(counted({6, 5}, index));
  }
  EXPECT_EQ(kernels_of(expect_same(program, inputs)), 11) << "each reads what the one before wrote";
}

TEST(Fusion, computes_two_outputs_of_the_same_sizes_by_one_kernel) {
  const Program program = [](const Tensors& in) {
    return Tensors{call_for_one("neg", {in[0]}), call_for_one("relu", {in[0]}),
                   call_for_one("add", {in[0], in[0]})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({6, 5})})), "fused:2 fused:1");
}

TEST(Fusion, chooses_by_comparisons_and_returns_them) {
  const Program program = [](const Tensors& in) {
    const AnyTensor larger = call_for_one("ge", {in[0], in[1]});
    const AnyTensor chosen = call_for_one("where", {larger, in[0], in[1]});
    const AnyTensor is_zero = call_for_one("eq.scalar", {in[0], 0});
    const AnyTensor equal = call_for_one("eq", {in[0], in[1]});
    return Tensors{call_for_one("exp", {call_for_one("mul.scalar", {chosen, 0})}), is_zero,
                   call_for_one("where", {is_zero, in[1], chosen}), equal,
                   call_for_one("where", {equal, in[0], call_for_one("neg", {in[0]})})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({40}), counted({40}, -1)})),
            "eq.scalar eq fused:2 where where fused:1")
      << "a bool that is returned is in memory";
}

TEST(Fusion, writes_small_parts_in_place) {
  const Program program = [](const Tensors& in) {
    call("copy_", {part(in[0], 0, 0, 1), part(in[0], 0, 5, 6)});
    call("mul_.scalar", {in[0], 3});
    call("fill_", {part(in[0], 1, 2, 3), 7});
    return Tensors{call_for_one("neg", {in[0]})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({12, 8})})),
            "fused:1 fused:1 slice_scatter fused:1 slice_scatter fused:1");
  expect_same(program, {counted({12, 8})}, {.paths = ViewPaths::strides});
}

TEST(Fusion, is_of_up_to_three_axes_whose_groups_every_device_has) {
  using Sizes = std::array<std::int64_t, fused_axes>;
  EXPECT_EQ(fused_sizes({}), (Sizes{1, 1, 1}));
  EXPECT_EQ(fused_sizes({7, 5}), (Sizes{1, 7, 5}));
  EXPECT_EQ(fused_sizes({65535, 65535, 0}), std::nullopt) << "no element";
  EXPECT_EQ(fused_sizes({65535, 1, 1}), (Sizes{65535, 1, 1}));
  EXPECT_EQ(fused_sizes({65536, 1, 1}), std::nullopt);
  EXPECT_EQ(fused_sizes({65536, 1}), std::nullopt);
  EXPECT_EQ(fused_sizes({65535 * 64}), (Sizes{1, 1, 65535 * 64}));
  EXPECT_EQ(fused_sizes({65535 * 64 + 1}), std::nullopt);
  EXPECT_EQ(fused_sizes({8191, 65536}), (Sizes{1, 8191, 65536}));
  EXPECT_EQ(fused_sizes({8192, 65536}), std::nullopt) << "addresses are of 32 bits";
  EXPECT_EQ(fused_sizes({2, 2, 2, 2}), std::nullopt);
}

TEST(Fusion, leaves_four_axes_to_their_operators) {
  const Program program = [](const Tensors& in) {
    return Tensors{call_for_one("neg", {call_for_one("relu", {in[0]})})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({2, 3, 2, 3})})), "relu neg");
}

TEST(Fusion, leaves_what_is_no_f32_to_its_operators) {
  const Program program = [](const Tensors& in) {
    const AnyTensor whole = call_for_one("to", {in[0], DType::i32});
    const AnyTensor sum = call_for_one("add", {whole, whole});
    return Tensors{sum, call_for_one("add", {in[0], sum}),
                   call_for_one("add.scalar", {in[0], Scalar(std::complex<float>(1, 2))}),
                   call_for_one("zeros", {{3}, DType::i32}),
                   call_for_one("slice_copy", {whole, 0, 2, 5, 1})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({10})})),
            "to add.scalar zeros add slice_copy add");
}

/// A dispatch has 65535 groups of 64 threads along a row, where a device has no more than it has to have.
TEST(Fusion, leaves_rows_alone_that_are_longer_than_a_dispatch) {
  const Program program = [](const Tensors& in) {
    return Tensors{call_for_one("relu", {call_for_one("add.scalar", {in[0], 1})})};
  };
  for (const std::int64_t length : {65535 * 64, 65535 * 64 + 1}) {
    Tensor row = Tensor::empty({length}, DType::f32);
    fill_(row, -2);
    expect_same(program, {row});
  }
}

}  // namespace
}  // namespace examples::vulkan::test
